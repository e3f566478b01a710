// SPDX-License-Identifier: Apache-2.0

/** Outlines on a 24 × 24 grid. */
const outlines = {
  back: 'M15 5l-7 7 7 7',
  battle: 'M4 4l7 7M4 4h4M4 4v4M20 4l-13 13M20 4h-4M20 4v4M5 15l4 4M4 20l3-3M13 17l2 2M15 15l4 4 1 1',
  camera: 'M3 7h11v10H3zM14 11l7-4v10l-7-4',
  cameraOff: 'M3 7h8M14 9v8H3V7M14 11l7-4v10l-4-2.3M2 2l20 20',
  chat: 'M4 5h16v11H10l-5 4v-4H4z',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  close: 'M6 6l12 12M18 6L6 18',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9a3 3 0 100 6 3 3 0 000-6z',
  gift: 'M4 11h16v9H4zM3 7h18v4H3zM12 7v13M12 7S8 7 8 4.5 12 4 12 7s0-5 4-2.5S12 7 12 7z',
  globe: 'M12 3a9 9 0 100 18 9 9 0 000-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  heart: 'M12 20S3.5 14.5 3.5 8.8A4.5 4.5 0 0112 6.6a4.5 4.5 0 018.5 2.2C20.5 14.5 12 20 12 20z',
  leave: 'M14 4h6v16h-6M4 12h11M11 8l4 4-4 4',
  link: 'M9 15l6-6M10 6l2-2a4.5 4.5 0 016.5 6.5l-2 2M14 18l-2 2a4.5 4.5 0 01-6.5-6.5l2-2',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 017 0v3',
  mic: 'M12 3a3 3 0 00-3 3v5a3 3 0 006 0V6a3 3 0 00-3-3zM6 11a6 6 0 0012 0M12 17v4',
  micOff: 'M9 7v4a3 3 0 004.5 2.6M15 10V6a3 3 0 00-5.5-1.7M6 11a6 6 0 009 5.2M18 11a6 6 0 01-.6 2.6M12 17v4M3 3l18 18',
  moon: 'M20 14.5A8.5 8.5 0 019.5 4 8.5 8.5 0 1020 14.5z',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  plus: 'M12 5v14M5 12h14',
  search: 'M11 4a7 7 0 100 14 7 7 0 000-14zM16 16l5 5',
  seat: 'M7 4v9h10V4M5 11v5h14v-5M7 16v4M17 16v4',
  send: 'M4 12L20 4l-5 16-3.5-6.5z',
  shield: 'M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6z',
  signal: 'M4 20v-4M9 20v-8M14 20V8M19 20V4',
  sun: 'M12 8a4 4 0 100 8 4 4 0 000-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2',
  text: 'M5 6h14M5 12h10M5 18h12',
  users: 'M9 5a3.5 3.5 0 100 7 3.5 3.5 0 000-7zM2.5 20c0-3.5 3-5 6.5-5s6.5 1.5 6.5 5M16 5.5a3.5 3.5 0 010 6.5M18 15c2.5.500 3.5 2.5 3.5 5',
};

/** An icon in the colour of the text. Screen readers ignore it, because its button has a label. */
export function icon(name) {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(space, 'path');
  path.setAttribute('d', outlines[name] ?? outlines.more);
  svg.append(path);
  return svg;
}
