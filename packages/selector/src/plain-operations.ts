/** Verbs for operations on results, which need no tool. */
const ON_RESULTS =
  /^(?:filter|sort|order|group|rank|limit|reverse|dedupe|deduplicate|print|log|count|sum|total|average|summari[sz]e|aggregate|combine|merge|join|format|keep|take|pick|exclude|round)\b/iu;
/** Verbs that show results, or ask to look something up. */
const SHOWS = /^(?:show|display|output|return|give|tell)\b/iu;
const STATISTICS =
  /^(?:calculate|compute|get|give|show|find|determine|work out|what(?:'s| is| are))\b(?:\s+(?:me|the|a|an|some|basic|simple|summary|their|its|overall))*\s+(?:statistics?|stats|averages?|means?|medians?|modes?|totals?|sums?|counts?|minimum|maximum|min|max|percentages?|standard deviation|variance|number of)\b/iu;
const CHANGE_OF_RESULTS =
  /^(?:add|append|push|insert|put|include|save|store|persist|record|keep|set|mark|update|change|increment|decrement|increase|decrease|rename|move)\b/iu;
const RESULT =
  /\b(?:it|them|this|that|these|those|result|results|state|status|field|fields|step|current_step|value|values|metadata|answer|output|total|list|object|json|counter|property|key|workflow)\b/iu;
const ADDS_A_NUMBER = /^(?:add|increase|decrease)\s+-?\d/iu;
const TWO_NUMBERS = /\d[^\d]+\d/u;
const NUMBER = /\d/u;
const PATH = /\/[\w.-]|(?<![\w-])[\w-]+\.(?:json|txt|md|csv|ya?ml|xml|html?|log)\b/iu;

/**
 * Whether a part of a task only works on results of earlier parts: filter, sort, count, print, statistics, setting a field.
 * A part with a path may need a file tool, and one with numbers to calculate with a calculator.
 */
export function isPlainOperation(text: string): boolean {
  const part = text.trim();
  if (PATH.test(part)) {
    return false;
  }
  if (STATISTICS.test(part)) {
    return !NUMBER.test(part);
  }
  if (ON_RESULTS.test(part)) {
    return !TWO_NUMBERS.test(part);
  }
  return (SHOWS.test(part) || CHANGE_OF_RESULTS.test(part)) && RESULT.test(part) && !ADDS_A_NUMBER.test(part);
}
