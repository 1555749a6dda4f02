"""A chart as SVG that may stand in a page: drawn here, once, so that the page needs no script for it."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

__all__ = ["page_svg"]

_TAGS = {"svg", "g", "path", "line", "rect", "circle", "text", "tspan"}
_ATTRIBUTES = {
    "d", "transform", "viewBox", "width", "height", "x", "y", "x1", "x2", "y1", "y2", "r", "cx", "cy", "dx", "dy",
    "fill", "fill-opacity", "opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-miterlimit",
    "text-anchor", "font-size", "font-family", "font-weight",
}  # fmt: skip
_LONG = re.compile(r"-?\d+\.\d{3,}")
_NAMESPACE = "{http://www.w3.org/2000/svg}"


def page_svg(spec: dict[str, Any], title: str) -> str:
    """Draw a Vega-Lite specification.

    Parameters
    ----------
    spec : dict
        Vega-Lite with its data; nothing is loaded from elsewhere.
    title : str
        What a screen reader says instead of the chart.

    Returns
    -------
    str
        An `svg` element. It holds the tags and attributes that draw, and nothing that acts, links or loads,
        whatever the texts in the chart say.
    """
    import vl_convert  # starts a JavaScript engine: only who draws needs it

    drawn = ElementTree.fromstring(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))  # noqa: S314 - of our own making
    kept = _kept(drawn)
    assert kept is not None
    width, height = kept.attrib.pop("width"), kept.attrib.pop("height")
    kept.attrib |= {
        "role": "img",
        "aria-label": title,
        "style": f"max-width:{float(width) * 1.12:.0f}px",
        "viewBox": f"0 0 {width} {height}",
    }
    return ElementTree.tostring(kept, encoding="unicode")


def _kept(element: ElementTree.Element) -> ElementTree.Element | None:
    tag = element.tag.removeprefix(_NAMESPACE)
    if tag not in _TAGS or element.get("display") == "none" or element.get("class") == "background":
        return None
    if tag == "text" and element.get("opacity") == "0":
        return None
    attributes = {name: value for name, value in element.items() if name in _ATTRIBUTES}
    for name in attributes.keys() & {"d", "transform"}:  # a hundredth of a pixel is enough
        attributes[name] = _LONG.sub(lambda found: f"{float(found[0]):.2f}", attributes[name])
    kept = ElementTree.Element(tag, attributes)
    kept.text = element.text
    children = [child for child in map(_kept, element) if child is not None]
    if tag == "g" and not children:
        return None
    if tag == "g" and len(children) == 1 and not kept.attrib:
        return children[0]
    said = element.get("aria-label")
    if tag == "path" and said is not None:  # what a mark says becomes its tooltip
        ElementTree.SubElement(kept, "title").text = said
    kept.extend(children)
    return kept
