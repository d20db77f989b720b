import type { JsonSchema } from "@cem/core";
import { Pattern } from "../../language/pattern.ts";
import { RANK } from "../../planning/reading.ts";
import type { Production } from "../../planning/step.ts";
import { hasType } from "../../planning/value.ts";
import { type Expression, literal, member, method } from "../../program/expression.ts";
import { singular } from "../../program/names.ts";

const SOME = new Pattern("(list|get|show|give|display) only? {end:@end} {count:number} {what}", {
  end: { first: "first", last: "last" },
});
const COUNT = new Pattern(
  "(how many | count the?) {what} (are there | there are | exist | do (we|you) have)?",
);

/** `the first 3 locations`, `how many locations are there`, of a tool that lists them. */
export const readListing: Production = ({ span }, plan) => {
  const some = SOME.match(span);
  const what = (some ?? COUNT.match(span))?.text("what");
  const list = what === undefined ? undefined : plan.readAsked(`list the ${what}`);
  if (what === undefined || list === undefined || !hasType(list.schema ?? {}, "array")) return undefined;
  const count = some?.number("count");
  const declare = (cut: (rows: Expression) => Expression, words: string, schema: JsonSchema): void => {
    list.lower();
    const rows = plan.values.at(-1);
    if (rows === undefined) return;
    rows.consumed = true;
    plan.declare(cut(rows.expression), { words, schema });
  };
  const lower = (): void => {
    if (count === undefined)
      declare((rows) => member(rows, "length"), `${singular(what)} count`, { type: "number" });
    else
      declare(
        (rows) => slice(rows, count, some?.meaning("end") === "last"),
        `some ${what}`,
        list.schema ?? {},
      );
  };
  return { kind: "listing", rank: RANK.plain, lower };
};

function slice(rows: Expression, count: number, isFromEnd: boolean): Expression {
  return isFromEnd
    ? method(rows, "slice", literal(-count))
    : method(rows, "slice", literal(0), literal(count));
}
