const TOKEN =
  /(\[\[|%5B%5B)[A-Z][A-Z\d_]{0,31}(?::|%3A)([a-z2-7]{16})(?:\]\]|%5D%5D)|user\.([a-z2-7]{16})(?:@|%40)redacted\.invalid/gi;

/**
 * A part of a token: one that ends early, at dots or at the end of the text; one of a common kind whose id is of another
 * length or is not closed; and one that lost its beginning.
 */
const BROKEN_TOKEN =
  /\[\[[A-Z][A-Z\d_]{0,31}:[a-z2-7]{0,16}(?:…|\.\.\.|$)|\[\[(?:EMAIL|PHONE|SSN|CREDIT_CARD|IBAN|IP|MAC|CRYPTO_ADDRESS|NATIONAL_ID|BIRTH_DATE|SECRET):[a-z2-7]*(?:\]\]|(?<=[a-z2-7]))|:[a-z2-7]{16}\]\]|redacted\.invalid/u;

/** A token in a text, which stands for a value that a {@link Redactor} keeps. */
export interface RedactionToken {
  start: number;
  end: number;
  /** Identifies the value within its session. */
  id: string;
  /** Whether the token is percent-encoded, as in an address, and its value is to be. */
  isEncoded: boolean;
}

/** Lists the tokens in a text whose form says that they are tokens. */
export function redactionTokensIn(text: string): RedactionToken[] {
  if (!mayHoldToken(text)) return [];
  return [...text.matchAll(TOKEN)].map(({ 0: match, 1: opening, 2: plain, 3: email, index }) => ({
    start: index,
    end: index + match.length,
    id: (plain ?? email ?? "").toLowerCase(),
    isEncoded: opening?.startsWith("%") === true || match.includes("%40"),
  }));
}

/** The first part of a text that is left of a token which was cut. */
export function brokenTokenIn(text: string): string | undefined {
  if (!mayHoldToken(text) && !text.includes("]]")) return undefined;
  return BROKEN_TOKEN.exec(text.replaceAll(TOKEN, " "))?.[0];
}

/** Whether a text holds a token, which means nothing once its session has ended. */
export function holdsRedactionToken(text: string): boolean {
  return redactionTokensIn(text).length > 0;
}

function mayHoldToken(text: string): boolean {
  return text.includes("[[") || text.includes("%5") || /redacted\.invalid/i.test(text);
}
