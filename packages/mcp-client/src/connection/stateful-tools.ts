/** Words of tools that leave something open for the next call: a page, a transaction, a login. */
const STATEFUL =
  /^(?:begin|checkout|click|close|commit|connect|disconnect|login|logout|navigate|open|resume|rollback|scroll|session|start|stop|subscribe|tab|tabs|undo)$/u;
/** One such word alone, as in `open_issue`, means little. */
const MIN_TOOLS = 2;

/** The tools by whose names a server looks as if it kept state between calls. Empty where fewer than two do. */
export function findStatefulTools(names: readonly string[]): string[] {
  const found = names.filter((name) => wordsOf(name).some((word) => STATEFUL.test(word)));
  return found.length < MIN_TOOLS ? [] : found;
}

function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/gu, "$1_$2")
    .toLowerCase()
    .split(/[^a-z\d]+/u);
}
