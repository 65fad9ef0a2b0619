/**
 * Notifications of the desktop, after the person allowed them, and only while they look elsewhere.
 */

/** @type {Map<string, Notification>} */
const shown = new Map();

/** @returns {NotificationPermission | "unsupported"} */
export const permission = () => ("Notification" in window ? Notification.permission : "unsupported");

export const ask = () => Notification.requestPermission();

/** @param {string} id @param {string} title @param {string} body */
export function notify(id, title, body) {
  if (permission() !== "granted" || document.hasFocus()) return;
  const notification = new Notification(title, { body, tag: id, icon: "/assets/page/icon.svg" }); // one per question, however many tabs
  notification.onclick = () => {
    window.focus();
    notification.close();
  };
  shown.set(id, notification);
}

/** Takes it back: there is nothing to answer any more. @param {string} id */
export function dismiss(id) {
  shown.get(id)?.close();
  shown.delete(id);
}
