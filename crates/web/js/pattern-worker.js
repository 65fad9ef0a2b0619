/** Placeholder: runs patterns. */
onmessage = ({ data: { texts } }) => postMessage(texts.map(() => true));
postMessage(true);
