"""Draw people with names and phone numbers in several languages and scripts."""

from random import Random
from typing import Any, Final

_NAMINGS: Final = [
    line.split(" | ")
    for line in """
fr | +33 6 39 98 ## ## | Zoé, Chloé, Joël, Hélène, François, Maëlys | Lefèvre, Gagné, Peña
pl | +48 600 ### ### | Łucja, Zbigniew, Małgorzata, Paweł, Żaneta | Dąbrowski, Kowalczyk, Wójcik
vi | +84 90 ### ## ## | Thị Hương, Minh Đức, Thu Trang, Quốc Bảo | Nguyễn, Trần, Phạm, Đặng
ar | +212 600 ### ### | ليلى, يوسف, فاطمة الزهراء, عمر, سلمى | بنجلون, العلوي, الإدريسي, برادة
he | +972 50 ### #### | נועה, דוד, תמר, איתי, שירה | כהן, לוי, מזרחי, בן־דוד
ru | +7 900 ###-##-## | Анастасия, Дмитрий, Ольга, Сергей, Алёна | Кузнец, Шевченко, Коваленко
el | +30 690 ### #### | Ελένη, Γιώργος, Χρυσάνθη, Νίκος | Παπαδοπούλου, Αγγελόπουλος, Οικονόμου
zh | +86 139 #### #### | 秀英, 伟, 丽娜, 建国, 小龙 | 王, 李, 张, 欧阳
ja | +81 90 #### #### | さくら, 健太, 美咲, 大輔, ユウキ | 佐藤, 髙橋, 渡邊, 山﨑
ko | +82 10 #### #### | 서연, 민준, 지우, 현우 | 김, 이, 박, 최
hi | +91 98### ##### | प्रिया, अर्जुन, लक्ष्मी, विक्रम, ऋषि | शर्मा, सिंह, पटेल, त्रिपाठी
""".strip().splitlines()
]
"""Languages, patterns of phone numbers (``#`` is a digit), first names and last names."""


def draw_person(chance: Random, mailbox: str) -> dict[str, Any]:
    """Return the language, the names and the addresses of a person, as fields of a customer.

    Args:
        mailbox: the part of the e-mail address before the ``@``.
    """
    language, phone, first_names, last_names = chance.choice(_NAMINGS)
    return {
        "firstName": chance.choice(first_names.split(", ")),
        "lastName": chance.choice(last_names.split(", ")),
        "language": language,
        "email": f"{mailbox}@example.com",
        "phoneNumber": "".join(str(chance.randrange(10)) if c == "#" else c for c in phone),
    }
