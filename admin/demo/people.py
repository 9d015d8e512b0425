"""Generate realistic names, e-mail addresses and phone numbers in several languages and scripts.

In the tables, a name in a non-Latin script is followed by ``|`` and the Latin spelling. The e-mail
address is built from the Latin spelling.
"""

import unicodedata
from dataclasses import dataclass
from random import Random
from typing import Final


@dataclass(frozen=True)
class Naming:
    """The data from which persons with one language are generated.

    Attributes:
        phone: a pattern for phone numbers; each ``#`` is replaced by a random digit.
        civilities: forms of address, such as ``Mme``.
    """

    language: str
    phone: str
    civilities: tuple[str, ...]
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]


@dataclass(frozen=True)
class Person:
    """A randomly generated person.

    Attributes:
        address: the local part of the e-mail address: ``zoe.lefevre``.
    """

    naming: Naming
    first_name: str
    last_name: str
    address: str


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


NAMINGS: Final = (
    Naming(
        "fr",
        "+33 6 39 98 ## ##",
        ("Mme", "M."),
        _names("Zoé, Chloé, Anaïs, Joël, Hélène, François, Maëlys, Benoît, Thérèse, Noël, Éloïse"),
        _names("Lefèvre, Gagné, Brûlé, Hervé, Peña, Müller, Desprès, D’Alençon, Boëlle, Châtelain"),
    ),
    Naming(
        "pl",
        "+48 600 ### ###",
        ("Pani", "Pan"),
        _names("Łucja, Zbigniew, Małgorzata, Paweł, Żaneta, Grzegorz"),
        _names("Wiśniewska, Dąbrowski, Źródłowska, Kowalczyk, Wójcik"),
    ),
    Naming(
        "vi",
        "+84 90 ### ## ##",
        ("Chị", "Anh"),
        _names("Thị Hương, Minh Đức, Thu Trang, Quốc Bảo, Ngọc Ánh"),
        _names("Nguyễn, Trần, Phạm, Đặng, Huỳnh"),
    ),
    Naming(
        "ar",
        "+212 600 ### ###",
        ("السيدة", "السيد"),
        _names(
            "ليلى|Leila, يوسف|Youssef, فاطمة الزهراء|Fatima Zahra, عمر|Omar, سلمى|Salma, "
            "حمزة|Hamza, خديجة|Khadija, إدريس|Idriss"
        ),
        _names(
            "بنجلون|Benjelloun, العلوي|El Alaoui, الإدريسي|El Idrissi, برادة|Berrada, "
            "التازي|Tazi, السقاط|Sekkat"
        ),
    ),
    Naming(
        "he",
        "+972 50 ### ####",
        ("גברת", "אדון"),
        _names("נועה|Noa, דוד|David, תמר|Tamar, איתי|Itai, שירה|Shira, יעל|Yael"),
        _names("כהן|Cohen, לוי|Levi, מזרחי|Mizrahi, פרידמן|Friedman, בן־דוד|Ben David"),
    ),
    Naming(
        "ru",
        "+7 900 ###-##-##",
        ("Госпожа", "Господин"),
        _names(
            "Анастасия|Anastasia, Дмитрий|Dmitri, Ольга|Olga, Сергей|Sergei, Юлия|Yulia, "
            "Алёна|Alyona"
        ),
        _names("Соловьёва|Solovyova, Кузнецов|Kuznetsov, Щербакова|Shcherbakova, Попов|Popov"),
    ),
    Naming(
        "el",
        "+30 690 ### ####",
        ("Κυρία", "Κύριος"),
        _names("Ελένη|Eleni, Γιώργος|Giorgos, Χρυσάνθη|Chrysanthi, Νίκος|Nikos, Ιωάννα|Ioanna"),
        _names("Παπαδοπούλου|Papadopoulou, Αγγελόπουλος|Angelopoulos, Οικονόμου|Oikonomou"),
    ),
    Naming(
        "zh",
        "+86 139 #### ####",
        ("女士", "先生"),
        _names("秀英|Xiuying, 伟|Wei, 丽娜|Lina, 建国|Jianguo, 小龙|Xiaolong, 雨桐|Yutong"),
        _names("王|Wang, 李|Li, 张|Zhang, 欧阳|Ouyang, 陈|Chen, 刘|Liu"),
    ),
    Naming(
        "ja",
        "+81 90 #### ####",
        ("様",),
        _names("さくら|Sakura, 健太|Kenta, 美咲|Misaki, 大輔|Daisuke, ユウキ|Yuki, 陽菜|Hina"),
        _names("佐藤|Sato, 髙橋|Takahashi, 渡邊|Watanabe, 小林|Kobayashi, 山﨑|Yamazaki"),
    ),
    Naming(
        "ko",
        "+82 10 #### ####",
        ("님",),
        _names("서연|Seoyeon, 민준|Minjun, 지우|Jiwoo, 현우|Hyunwoo, 하은|Haeun"),
        _names("김|Kim, 이|Lee, 박|Park, 최|Choi, 정|Jung"),
    ),
    Naming(
        "hi",
        "+91 98### #####",
        ("श्रीमती", "श्री"),
        _names("प्रिया|Priya, अर्जुन|Arjun, लक्ष्मी|Lakshmi, विक्रम|Vikram, ऋषि|Rishi"),
        _names("शर्मा|Sharma, सिंह|Singh, कृष्णन|Krishnan, पटेल|Patel, त्रिपाठी|Tripathi"),
    ),
)

# ASCII replacements of letters that Unicode does not decompose into an ASCII letter and a
# diacritic.
_ASCII_SPELLINGS: Final = str.maketrans({"ł": "l", "đ": "d", "ø": "o", "œ": "oe", "’": None})


def draw_person(chance: Random) -> Person:
    """Generate a person with names of a random language."""
    naming = chance.choice(NAMINGS)
    first, last = chance.choice(naming.first_names), chance.choice(naming.last_names)
    return Person(
        naming,
        first_name=first.partition("|")[0],
        last_name=last.partition("|")[0],
        address=f"{_in_ascii(first)}.{_in_ascii(last)}",
    )


def draw_digits(chance: Random, pattern: str) -> str:
    """Return the pattern with each ``#`` replaced by a random digit."""
    return "".join(str(chance.randrange(10)) if c == "#" else c for c in pattern)


def _in_ascii(name: str) -> str:
    latin = name.rpartition("|")[2].lower()
    plain = unicodedata.normalize("NFKD", latin.translate(_ASCII_SPELLINGS))
    return "".join(c for c in plain.replace(" ", "-") if c.isascii())
