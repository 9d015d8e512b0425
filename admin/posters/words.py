"""The words of posters that do not come from a form's definition."""

from collections.abc import Mapping
from typing import Final

SCAN: Final[Mapping[str, str]] = {
    "ar": "امسح الرمز بالكاميرا",
    "bg": "Сканирайте с камерата си",
    "cs": "Naskenujte fotoaparátem",
    "da": "Scan med dit kamera",
    "de": "Mit der Kamera scannen",
    "el": "Σαρώστε με την κάμερά σας",
    "en": "Scan with your camera",
    "es": "Escanee con la cámara",
    "fa": "با دوربین اسکن کنید",
    "fi": "Skannaa kameralla",
    "fr": "Scannez avec votre appareil photo",
    "he": "סרקו עם המצלמה",
    "hr": "Skenirajte kamerom",
    "hu": "Olvassa be a kamerával",
    "id": "Pindai dengan kamera Anda",
    "it": "Inquadra con la fotocamera",
    "ja": "カメラで読み取ってください",
    "ko": "카메라로 스캔하세요",
    "nl": "Scan met uw camera",
    "no": "Skann med kameraet",
    "pl": "Zeskanuj aparatem",
    "pt": "Leia com a câmara",
    "ro": "Scanați cu camera",
    "ru": "Отсканируйте камерой",
    "sk": "Naskenujte fotoaparátom",
    "sv": "Skanna med kameran",
    "tr": "Kameranızla tarayın",
    "uk": "Відскануйте камерою",
    "vi": "Quét bằng máy ảnh",
    "zh": "请用相机扫描",
    "zh-TW": "請用相機掃描",
}
"""Scan with your camera, by language."""
