"""Texts for the tokenizers: ten scripts, emoji, and spaces of every kind."""

import random

SCRIPTS = {
    "latin": "In the beginning was the word; naïve façades, Straße, fjörður, don't we're 12345 3.14 x_y(z) == [a];",
    "greek": "Ἐν ἀρχῇ ἦν ὁ λόγος, καὶ ὁ λόγος ἦν πρὸς τὸν θεόν.",
    "cyrillic": "В начале было слово, и слово было у нас, щука и ёж.",
    "arabic": "في البدء كان الكلمة، والكلمةُ كانتْ عِندَنا ١٢٣.",
    "hebrew": "בְּרֵאשִׁית הָיָה הַדָּבָר, והדבר היה אצלנו.",
    "devanagari": "आदि में वचन था, और वचन हमारे साथ था। १२३",
    "chinese": "太初有道，道与我们同在。漢字與簡化字，𠀀𪚥。",
    "japanese": "初めに言葉があった。ことばは、ワタシタチとともに。",
    "korean": "태초에 말씀이 계시니라. 한글 자모 ㄱㄴㄷ 각",
    "thai": "ในปฐมกาลพระวาทะทรงดำรงอยู่ กับเราทั้งหลาย",
    "emoji": "👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 ❤️ 🇩🇪 1️⃣ 😀😀😀 e\u0301 ａｂｃ ﬁ",
    "spaces": "a  b\t\tc\n\n\nd \r\n  e\u00a0f\u2003g\u200bh\u2028i   \n\t j  ",
}
BROKEN = [b"abc\xff\xfedef", b"\xc3(", b"\xe2\x82 end", b"\xf0\x9f\x98", b"\xed\xa0\x80 surrogate", b"\xc0\xaf overlong"]


def corpus(documents: int, seed: int = 1) -> list[str]:
    """Documents that mix words of all scripts."""
    draw = random.Random(seed)
    words = [word for text in SCRIPTS.values() for word in text.split(" ")]
    return [" ".join(draw.choices(words, k=draw.randint(1, 60))) for _ in range(documents)]
