/**
 * How it looks. Colors follow the page's `color-scheme`; a page changes them, and a few
 * measures, by the custom properties that `element.js` lists.
 *
 * All sizes are relative to the person's own font size, all sides are logical (right-to-left
 * needs no rule of its own), and no state is told by color alone.
 */

/** One sheet for all elements, made when the first needs it. */
export function style() {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
  }
  return sheet;
}

/** What is loaded later brings its own looks. @param {string} more */
export function look(more) {
  css += more;
  sheet?.replaceSync(css);
}

/** @type {CSSStyleSheet | undefined} */
let sheet;

let css = `
:host {
  --accent: var(--mcp-elicitation-accent, light-dark(#3350cc, #a9baff));
  --on-accent: var(--mcp-elicitation-on-accent, light-dark(#fff, #10163a));
  --ground: var(--mcp-elicitation-background, light-dark(#fff, #1b1d23));
  --text: var(--mcp-elicitation-text, light-dark(#1b1d23, #eceef3));
  --danger: var(--mcp-elicitation-danger, light-dark(#b3241c, #ffb0a8));
  --round: var(--mcp-elicitation-radius, .625rem);
  --muted: color-mix(in srgb, var(--text) 68%, var(--ground));
  --line: color-mix(in srgb, var(--text) 50%, var(--ground));
  --hair: color-mix(in srgb, var(--text) 13%, var(--ground));
  --soft: color-mix(in srgb, var(--text) 5%, var(--ground));
  --tint: color-mix(in srgb, var(--accent) 13%, var(--ground));
  --warm: light-dark(#fdf1d8, #3b2e12);
}
* { box-sizing: border-box; margin: 0; min-inline-size: 0; overflow-wrap: anywhere; }
[hidden] { display: none !important; }
dialog, .note {
  font: 1rem/1.5 var(--mcp-elicitation-font, system-ui, sans-serif);
  color: var(--text); background: var(--ground);
  border: 1px solid var(--hair); border-radius: calc(var(--round) * 1.6);
  box-shadow: 0 1.5rem 4rem -1rem #0006, 0 .25rem 1rem #0002;
}
dialog {
  inline-size: min(34rem, 100vw - 1rem);
  max-inline-size: none; max-block-size: min(52rem, 100dvh - 1rem);
  margin: auto; padding: 0; overflow: hidden; outline: 0;
}
dialog[open] { display: flex; flex-direction: column; animation: rise .18s ease-out; }
dialog::backdrop { background: #0b0d1473; backdrop-filter: blur(2px); }
@keyframes rise { from { opacity: 0; transform: translateY(.5rem); } }
header { position: relative; display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .5rem; padding-block: .625rem; padding-inline: 1.25rem .625rem; border-block-end: 1px solid var(--hair); }
.avatar { flex: none; inline-size: 2rem; block-size: 2rem; border-radius: var(--round); background: var(--tint); color: var(--accent); font-weight: 700; line-height: 2rem; text-align: center; overflow: hidden; }
.who { flex: 1 1 6rem; margin-inline-start: .25rem; line-height: 1.3; color: var(--muted); }
h2, .tool { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
h2 { font-size: .9375rem; font-weight: 400; }
.about { font-size: .8125rem; display: flex; flex-wrap: wrap; align-items: baseline; gap: .125rem .5rem; }
h2 bdi:first-of-type { font-weight: 650; color: var(--text); }
.queue, .countdown { flex: none; font-size: .75rem; font-weight: 600; font-variant-numeric: tabular-nums; padding: .0625rem .5rem; border-radius: 9rem; background: var(--soft); color: var(--muted); border: 1px solid transparent; }
.countdown { background: var(--warm); color: var(--text); }
.countdown.urgent { background: var(--danger); color: var(--ground); }
form { display: flex; flex-direction: column; min-block-size: 0; }
.body { overflow: auto; overscroll-behavior: contain; padding: 1.25rem; display: grid; grid-template-columns: 100%; gap: 1rem; background: linear-gradient(var(--ground) 30%, transparent) 0 0 / 100% 2rem, linear-gradient(transparent, var(--ground) 70%) 0 100% / 100% 2rem, linear-gradient(#0002, transparent) 0 0 / 100% .5rem, linear-gradient(transparent, #0002) 0 100% / 100% .5rem; background-repeat: no-repeat; background-attachment: local, local, scroll, scroll; }
h3 { font-size: 1.25rem; font-weight: 650; line-height: 1.3; letter-spacing: -.01em; }
.message { white-space: pre-wrap; }
[dir=auto] { text-align: -webkit-match-parent; text-align: match-parent; }
.fields, footer { display: grid; grid-template-columns: 100%; gap: 1.25rem; }
.fields:empty, .help:empty, .problem:empty, .problems:not(:has(*)) { display: none; }
fieldset { border: 0; padding: 0; }
.field > label:not(.quiet), legend:not(.quiet), .reason label { display: block; font-weight: 600; padding: 0; }
.mark { color: var(--danger); margin-inline-start: .25rem; }
.help { color: var(--muted); font-size: .875rem; }
.help p { white-space: pre-wrap; }
.reason textarea, .field .row, .field > :is(input, select, textarea), .segments { margin-block-start: .375rem; }
input, select, textarea { font: inherit; color: inherit; background: var(--ground); inline-size: 100%; min-block-size: 2.625rem; padding: .4375rem .75rem; border: 1px solid var(--line); border-radius: var(--round); }
textarea { display: block; resize: vertical; field-sizing: content; min-block-size: 4.75rem; max-block-size: 50dvh; }
::placeholder { color: var(--muted); opacity: 1; }
:is(input, select, textarea, button, a):focus-visible, .segments :has(:checked:focus-visible), .segments:not(:has(:checked)):has(:focus-visible) { outline: 2px solid var(--accent); outline-offset: 2px; }
[aria-invalid] { border-color: var(--danger); }
:is(input, select, textarea)[aria-invalid], [aria-invalid] .segments { box-shadow: 0 0 0 1px var(--danger); }
.problem { color: var(--danger); font-size: .875rem; font-weight: 500; margin-block-start: .25rem; }
.problem::before { content: "⚠ " / ""; }
.row { display: flex; gap: .5rem; align-items: center; }
.segments { display: flex; flex-wrap: wrap; gap: .25rem; padding: .1875rem; border: 1px solid var(--line); border-radius: var(--round); background: var(--soft); }
.row .segments { margin: 0; }
.segments label { position: relative; padding: .25rem .875rem; border-radius: calc(var(--round) - .1875rem); border: 1px solid transparent; cursor: pointer; text-align: center; flex: 1 0 auto; max-inline-size: 100%; }
.segments input { position: absolute; inset: 0; opacity: 0; block-size: 100%; min-block-size: 0; cursor: pointer; }
.segments :checked + bdi { font-weight: 600; }
.segments label:has(:checked) { background: var(--accent); color: var(--on-accent); }
[type=checkbox], [type=radio] { inline-size: 1.125rem; block-size: 1.125rem; min-block-size: 0; margin-block: .1875rem; accent-color: var(--accent); }
.beside { display: grid; grid-template-columns: 1fr auto; gap: 0 1rem; align-items: center; }
.beside > * { grid-column: 1; }
.beside > input[role=switch] { grid-area: 1 / 2; margin: 0; }
[role=switch] { appearance: none; inline-size: 2.75rem; block-size: 1.625rem; padding: 2px; border-radius: 9rem; background: var(--soft); cursor: pointer; transition: background .15s; }
[role=switch]::before { content: ""; display: block; inline-size: 1.25rem; block-size: 1.25rem; border-radius: 9rem; background: var(--line); transition: margin .15s, background .15s; }
[role=switch]:checked { background: var(--accent); border-color: var(--accent); }
[role=switch]:checked::before { margin-inline-start: 1.125rem; background: var(--on-accent); }
ul { list-style: none; padding: 0; }
footer { gap: .75rem; padding: .875rem 1.25rem; border-block-start: 1px solid var(--hair); background: var(--soft); }
.problems { font-size: .875rem; color: var(--muted); }
.problems strong { color: var(--danger); }
strong { font-weight: 600; }
a { color: inherit; }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
.actions > :first-child { margin-inline-end: auto; }
.actions .more { padding-inline: .75rem; }
.actions .cancel { border-color: transparent; background: none; }
button { font: inherit; font-weight: 550; color: var(--text); background: var(--ground); border: 1px solid var(--line); border-radius: var(--round); min-block-size: 2.5rem; padding: .375rem 1rem; cursor: pointer; overflow-wrap: normal; }
button:hover { background: var(--soft); }
.accept { background: var(--accent); color: var(--on-accent); border-color: transparent; min-inline-size: 6rem; }
.accept:hover { background: var(--accent); filter: brightness(.93); }
:host([destructive]) .accept { background: var(--danger); color: var(--ground); }
.risky.accept { background: var(--ground); color: var(--text); border-color: var(--line); }
.accept[aria-disabled] { background: var(--hair); color: var(--muted); cursor: not-allowed; }
.close, .clear, .remove { border-color: transparent; background: none; color: var(--muted); }
.close { order: 1; flex: none; inline-size: 2.5rem; padding: 0; font-size: 1.375rem; line-height: 1; }
.clear { flex: none; font-size: .875rem; }
.row:not(:has(:checked)) .clear { visibility: hidden; }
.new :is(header, footer) { pointer-events: none; }
[aria-busy=true] form { opacity: .6; }
[aria-busy=true] header::after { content: ""; position: absolute; inset: auto 0 0; block-size: 2px; background: linear-gradient(90deg, transparent, var(--accent), transparent) 0 / 200% 100%; animation: wait 1.2s linear infinite; }
@keyframes wait { to { background-position: -200% 0; } }
.note { position: fixed; inset-block-end: 1rem; inset-inline: 0; inline-size: fit-content; max-inline-size: calc(100vw - 2rem); margin-inline: auto; padding-block: .375rem; padding-inline: 1rem .375rem; display: flex; align-items: center; gap: .5rem; }
.note:empty { all: unset; }
.quiet { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 30rem) {
  dialog { inline-size: 100vw; max-block-size: 94dvh; margin-block-end: 0; border-end-start-radius: 0; border-end-end-radius: 0; border-width: 1px 0 0; }
  .actions > * { flex: auto; }
  .actions > .more { flex: none; margin: 0; }
  .accept { flex-basis: 100%; order: -1; }
  header { padding-inline-start: 1rem; }
  .body, footer { padding-inline: 1rem; }
  footer { padding-block-end: max(.875rem, env(safe-area-inset-bottom)); }
}
@media (max-width: 22rem) { .avatar { display: none; } }
@media (max-height: 30rem) {
  dialog { overflow: auto; }
  header { position: sticky; inset-block-start: 0; background: var(--ground); z-index: 1; }
  form, .body { display: block; overflow: visible; min-block-size: auto; }
  .body > * + * { margin-block-start: 1rem; }
}
@media (prefers-reduced-motion) { *, ::before, ::after { animation: none !important; transition: none !important; } }
@media (forced-colors: active) {
  .segments label:has(:checked), [role=switch]:checked, .accept:not([aria-disabled]) { background: Highlight !important; color: HighlightText; forced-color-adjust: none; }
  [role=switch]::before { background: ButtonText; }
  [role=switch]:checked::before { background: HighlightText; }
  [aria-disabled] { color: GrayText; border-color: GrayText; }
  :is(input, select, textarea)[aria-invalid], [aria-invalid] .segments { border: 2px dashed; }
}
`;
