/**
 * How many questions wait, where it is seen from another tab: in the title and on the icon.
 */

/** @param {string} title @param {number} count */
export function badge(title, count) {
  document.title = count ? `(${count}) ${title}` : title;
  const icon = /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]"));
  const wanted = count ? picture(count) : "/assets/page/icon.svg";
  if (icon.getAttribute("href") !== wanted) icon.href = wanted;
}

/** @param {number} count */
function picture(count) {
  const text = count > 9 ? "9+" : String(count);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M6 6h16a4 4 0 0 1 4 4v10a4 4 0 0 1-4 4h-7l-6 6v-6H6a4 4 0 0 1-4-4V10a4 4 0 0 1 4-4z" fill="#3350cc"/><circle cx="22" cy="10" r="9.5" fill="#c2271d"/><text x="22" y="14.5" font-family="sans-serif" font-weight="700" font-size="${text.length > 1 ? 11 : 13}" fill="#fff" text-anchor="middle">${text}</text></svg>`;
  return "data:image/svg+xml," + encodeURIComponent(svg);
}
