import { Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import type { Plan } from "../../planning/plan.ts";

const QUOTED = new Pattern("(text|message|line|words|sentence|following)? :? {quote:quote}");
const CONFIRMATIONS: readonly Pattern[] = [
  new Pattern(
    "that? (success|final)? (confirmation|success|completion | (status message)) (message)? ((that|when|once|after|saying|of) {about:rest})?",
  ),
  new Pattern("message (that|saying|confirming|when|once) that? {about:rest}"),
];

/** What is in quotes is printed as it is. */
export function readQuotes(span: Span): string[] | undefined {
  const texts = span.list.map((part) => QUOTED.match(part)?.text("quote"));
  const found = texts.filter((text) => text !== undefined);
  return found.length > 0 && found.length === texts.length ? found : undefined;
}

/** `confirmation that the state was saved`: a sentence in the user's words. */
export function readConfirmation(span: Span, plan: Plan): string[] | undefined {
  const match = CONFIRMATIONS.map((pattern) => pattern.match(span)).find((one) => one !== undefined);
  if (match === undefined) return undefined;
  const path = plan.document?.path ?? plan.lastPath;
  const about = match.span("about").text;
  if (about === "") return [path === undefined ? "Done." : `Saved ${path}.`];
  const [quoted] = readQuotes(match.span("about")) ?? [];
  if (quoted !== undefined) return [quoted];
  const where = path !== undefined && /\bsaved$/iu.test(about) ? ` to ${path}` : "";
  return [`${about.charAt(0).toUpperCase()}${about.slice(1)}${where}.`];
}
