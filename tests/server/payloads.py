"""Names that would run as a script if a page took them for markup."""

_CALL = "alert(1)"
_TAGS = [
    f"<script>{_CALL}</script>", f"<img src=x onerror={_CALL}>", f"<svg onload={_CALL}>", f"<body onload={_CALL}>",
    f"<iframe srcdoc='<script>{_CALL}</script>'>", f"<details open ontoggle={_CALL}>x</details>",
    f"<video><source onerror={_CALL}></video>", f"<audio src=x onerror={_CALL}>", f"<input autofocus onfocus={_CALL}>",
    f"<marquee onstart={_CALL}>x</marquee>", f"<a href='javascript:{_CALL}'>x</a>",
    f"<math href='javascript:{_CALL}'>x",
    f"<object data='javascript:{_CALL}'>", f"<embed src='javascript:{_CALL}'>", f"<base href='javascript:{_CALL}//'>",
    f"<meta http-equiv=refresh content='0;url=javascript:{_CALL}'>", f"<link rel=import href='data:text/html,{_CALL}'>",
    f"<style>@import 'javascript:{_CALL}'</style>", f"<svg><script>{_CALL}</script></svg>",
    f"<svg><animate onbegin={_CALL} attributeName=x dur=1s>",
]  # fmt: skip
_BREAKS = [
    f'">{_TAGS[0]}', f"'>{_TAGS[1]}", f"</option>{_TAGS[1]}", f"</textarea>{_TAGS[1]}", f"</li></ol>{_TAGS[1]}",
    f"--><svg onload={_CALL}>", f"]]>{_TAGS[1]}", f"</title>{_TAGS[0]}", f"</style>{_TAGS[0]}", f"</script>{_TAGS[0]}",
    f'" onmouseover="{_CALL}', f"' onmouseover='{_CALL}", f'" autofocus onfocus="{_CALL}', f"` onload={_CALL} `",
    f"javascript:{_CALL}", f"JaVaScRiPt:{_CALL}", f"data:text/html,<script>{_CALL}</script>",
    f"&lt;img src=x onerror={_CALL}&gt;", f"&#60;img src=x onerror={_CALL}&#62;",
    f"\\x3cimg src=x onerror={_CALL}\\x3e",
    f"\\u003cimg src=x onerror={_CALL}\\u003e", f"%3Cimg src=x onerror={_CALL}%3E", f"${{{_CALL}}}", f"{{{{{_CALL}}}}}",
    f"#{{{_CALL}}}", f"');{_CALL};//", f'");{_CALL};//', f"`;{_CALL};//", f"*/{_CALL}/*", f"\u2028{_CALL}\u2029",
    "__proto__", "constructor", "toString", "hasOwnProperty", "../../v1/models", "?model=x#token=y",
    "\u202ereversed", "=cmd|' /C calc'!A0", "a" * 300, "𝒳 😀 é",
]  # fmt: skip
PAYLOADS = [*_TAGS, *_BREAKS]
