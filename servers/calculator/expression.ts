import { Jsep } from "./vendor/jsep.js";
import type { Expression } from "./vendor/jsep.js";

const MAX_EXPRESSION_CHARACTERS = 10_000;

/** As jsep ranks its own: `*` is 10. */
const POWER_PRECEDENCE = 11;

/** Arithmetic is all there is: no strings, members, comparisons or bit operations. */
class ArithmeticParser extends Jsep {
  /** Marks what stood in parentheses, so that -2 ^ 2 and (-2) ^ 2 can be told apart. */
  override gobbleGroup(): Expression | undefined {
    const node = super.gobbleGroup();
    if (node) node.grouped = true;
    return node;
  }
}

Jsep.removeAllBinaryOps();
Jsep.removeAllUnaryOps();
Jsep.removeAllLiterals();
for (const operator of ["+", "-"]) Jsep.addUnaryOp(operator).addBinaryOp(operator, 9);
for (const operator of ["*", "/", "%"]) Jsep.addBinaryOp(operator, 10);
for (const operator of ["^", "**"]) Jsep.addBinaryOp(operator, POWER_PRECEDENCE, true);

/** Reads an expression into its tree. */
export function parseExpression(text: string): Expression {
  if (text.length > MAX_EXPRESSION_CHARACTERS) {
    throw new RangeError(
      `The expression has ${text.length} characters; at most ${MAX_EXPRESSION_CHARACTERS} are allowed.`,
    );
  }
  const plain = toPlainNotation(text);
  if (plain === "") throw new SyntaxError('The expression is empty. Give one such as "5 + 3".');
  try {
    return new ArithmeticParser(plain).parse();
  } catch (error) {
    if (error instanceof RangeError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new SyntaxError(`Can't read "${text.trim()}" as arithmetic: ${reason}.`, { cause: error });
  }
}

/** Brings how people write (×, ÷, 1,000, 15% of 200, "5 + 3 =") to what the parser reads. */
function toPlainNotation(text: string): string {
  const operators = text
    .trim()
    .replace(/\s*=\s*\??$/, "")
    .replaceAll("×", "*")
    .replaceAll("·", "*")
    .replaceAll("÷", "/")
    .replaceAll(/[−–]/g, "-")
    .replaceAll("π", "pi")
    .replaceAll(/√\s*(\d+(?:\.\d+)?)/g, "sqrt($1)")
    .replaceAll("√", "sqrt")
    .replaceAll(/(?<=[\d)]\s*)(?<!(?<![\d.])0)[xX](?=\s*[-\d.(])/g, "*");
  return markPercentages(joinThousands(operators)).trim();
}

/** `1,250,000` is one number, except between the parentheses of a call, where a comma parts arguments. */
function joinThousands(text: string): string {
  const groups: boolean[] = [];
  let joined = "";
  for (const [index, character] of text.split("").entries()) {
    if (character === "(") groups.push(/[a-z]\w*\s*$/i.test(joined));
    if (character === ")") groups.pop();
    const isSeparator =
      character === "," &&
      !groups.includes(true) &&
      /(?<![.\d])\d{1,3}(?:,?\d{3})*$/.test(text.slice(0, index));
    if (!isSeparator || !/^,\d{3}(?!\d)/.test(text.slice(index))) joined += character;
  }
  return joined;
}

/** A `%` that no number follows is "per cent"; otherwise it is the remainder. */
function markPercentages(text: string): string {
  return text
    .replaceAll(/(\d+(?:\.\d+)?|\.\d+)\s*%\s*of\b/gi, "percent($1) *")
    .replaceAll(/(\d+(?:\.\d+)?|\.\d+)\s*%(?=\s*(?:$|[)+*/,^])|\s+-\s)/g, "percent($1)");
}
