/** The part of jsep that the calculator uses. `jsep.js` beside this file is the library's own, unchanged. */

interface Node {
  /** Set by the calculator's parser: the node stood in parentheses. */
  grouped?: boolean;
}

export type Expression = Node &
  (
    | { type: "Literal"; value: unknown; raw: string }
    | { type: "Identifier"; name: string }
    | { type: "UnaryExpression"; operator: string; argument: Expression }
    | { type: "BinaryExpression"; operator: string; left: Expression; right: Expression }
    | { type: "CallExpression"; callee: Expression; arguments: Expression[] }
    | { type: "Compound" | "SequenceExpression" | "MemberExpression" | "ThisExpression" | "ArrayExpression" }
  );

export class Jsep {
  static addUnaryOp(operator: string): typeof Jsep;
  static addBinaryOp(operator: string, precedence: number, rightAssociative?: boolean): typeof Jsep;
  static removeAllUnaryOps(): typeof Jsep;
  static removeAllBinaryOps(): typeof Jsep;
  static removeAllLiterals(): typeof Jsep;
  constructor(expression: string);
  parse(): Expression;
  gobbleGroup(): Expression | undefined;
}
