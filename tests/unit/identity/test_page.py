"""The page that a browser comes back to."""

from __future__ import annotations

from skillroute.identity.page import page


def test_what_stands_in_the_page_is_text() -> None:
    shown = page("<b>", "<script>alert('x')</script> & \"more\"")
    assert "<script" not in shown
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; &quot;more&quot;" in shown
