/** Placeholder: JSON Schema beyond fields. */
export const formats = {};
export const admits = () => true;
