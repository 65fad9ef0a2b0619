/**
 * Which keywords of JSON Schema are rules.
 */

/**
 * Whether a keyword can refuse a value. The others only say something about it.
 * @param {string} keyword
 */
export const isRule = (keyword) => RULE.test(keyword);

const RULE =
  /^(type|enum|const|\$ref|\$dynamicRef|(all|any|one)Of|not|if|then|else|(min|max)(Length|imum|Items|Contains|Properties)|exclusiveM(in|ax)imum|multipleOf|pattern|format|contains|(prefixI|unevaluatedI|i)tems|uniqueItems|(patternP|additionalP|unevaluatedP|p)roperties|propertyNames|required|dependent(Required|Schemas)|dependencies)$/;
