# SPDX-License-Identifier: Apache-2.0
"""Checks of roles, names and contrast, as WCAG 2.2 AA asks. They run in the page and name what is wrong."""

SCRIPT = r"""() => {
  const found = [];
  const say = (what, element) => found.push(`${what}: <${element.tagName.toLowerCase()} class="${element.className}"> ${(element.textContent ?? '').trim().slice(0, 40)}`);
  const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest('[aria-hidden="true"]');
  const nameOf = (element) => {
    const by = element.getAttribute('aria-labelledby');
    if (by) return by.split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join(' ').trim();
    const label = element.getAttribute('aria-label');
    if (label?.trim()) return label.trim();
    if (element.labels?.length) return [...element.labels].map((other) => other.textContent).join(' ').trim();
    return (element.textContent || element.getAttribute('title') || element.getAttribute('alt') || '').trim();
  };
  for (const element of document.querySelectorAll('a, button, input, select, textarea, [role]')) {
    if (!isShown(element)) continue;
    const needs = element.matches('a, button, input, select, textarea, [role=tab], [role=tablist], [role=radio], [role=radiogroup], [role=dialog], [role=img], [role=tabpanel], [role=log]');
    if (needs && !nameOf(element)) say('no name', element);
    for (const attribute of ['aria-controls', 'aria-labelledby', 'aria-describedby']) {
      for (const id of (element.getAttribute(attribute) ?? '').split(' ').filter(Boolean)) if (!document.getElementById(id)) say(`${attribute} names no element`, element);
    }
    if (element.matches('a, button, input, select, textarea')) {
      const { width, height } = element.getBoundingClientRect();
      if (element.matches('.name-button') || element.closest('.skip')) continue;
      if (width > 1 && (width < 24 || height < 24)) say(`a target of ${Math.round(width)} by ${Math.round(height)}`, element);
    }
  }
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) found.push(`the id ${id} stands twice`);
  if (document.querySelectorAll('main').length !== 1) found.push('there is not one main');
  if (document.querySelectorAll('h1').length !== 1) found.push(`there are ${document.querySelectorAll('h1').length} h1`);
  if (!document.documentElement.lang || !document.title) found.push('no language or title');

  const parse = (text) => {
    const numbers = text.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    const scale = text.startsWith('color(') ? 255 : 1;
    return { r: numbers[0] * scale, g: numbers[1] * scale, b: numbers[2] * scale, a: numbers[3] ?? 1 };
  };
  const over = (top, under) => ({ r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a), b: top.b * top.a + under.b * (1 - top.a), a: 1 });
  const light = ({ r, g, b }) => [r, g, b].map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)).reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const ratio = (one, other) => { const [a, b] = [light(one), light(other)].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05); };
  // What is behind a text: the colours of its ancestors, up to the first opaque one. Over a picture or gradient that
  // the text does not own nothing can be computed; those have a plate of their own colour.
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== 'none') {
        const colours = style.backgroundImage.match(/(rgba?|color)\([^)]*\)/g)?.map(parse).filter(({ a }) => a > 0.99);
        if (!colours?.length) return undefined;
        const worst = colours.sort((x, y) => ratio(parse(getComputedStyle(element).color), x) - ratio(parse(getComputedStyle(element).color), y))[0];
        return layers.reverse().reduce((under, layer) => over(layer, under), worst);
      }
      const colour = parse(style.backgroundColor);
      if (colour.a > 0) layers.push(colour);
      if (colour.a > 0.99) break;
    }
    return layers.reverse().reduce((under, layer) => over(layer, under), { r: 255, g: 255, b: 255, a: 1 });
  };
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || seen.has(element) || !isShown(element) || element.closest('.only-read, .skip, :disabled')) continue;
    seen.add(element);
    const style = getComputedStyle(element);
    const background = behind(element);
    if (!background) continue;
    const size = parseFloat(style.fontSize);
    const wanted = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const reached = ratio(over(parse(style.color), background), background);
    if (reached < wanted) say(`contrast ${reached.toFixed(2)} of ${style.color}`, element);
  }
  return found;
}"""


def problems(page):
    """What is wrong with the page as it is shown now."""
    return page.evaluate(SCRIPT)
