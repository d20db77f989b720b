/** A calculation as the text states it. `reference` names an earlier result in the user's words. */
export type Arithmetic =
  | { kind: "number"; value: number; text: string }
  | { kind: "reference"; words: string }
  | { kind: "negate"; value: Arithmetic }
  | { kind: "operation"; operator: ArithmeticOperator; left: Arithmetic; right: Arithmetic }
  | { kind: "root"; value: Arithmetic };

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "%" | "**";
