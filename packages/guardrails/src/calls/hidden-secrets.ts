/** Shorter ones would be found in text by chance once separators are left out. */
const MIN_LOOSE_CHARACTERS = 12;
const MIN_CODED_CHARACTERS = 8;
const BYTES_PER_GROUP = 3;

/** Tells whether texts hold one of these secrets, plainly, encoded, reversed, or in pieces one after another. */
export function createSecretSearch(secrets: readonly string[]): (texts: readonly string[]) => boolean {
  if (secrets.length === 0) return () => false;
  const coded = [...new Set(secrets.flatMap((secret) => [secret, ...encodings(secret)]))];
  const loose = new Set(secrets.map(bare).filter(({ length }) => length >= MIN_LOOSE_CHARACTERS));
  for (const secret of secrets) {
    const hex = Buffer.from(secret).toString("hex");
    if (hex.length >= MIN_LOOSE_CHARACTERS) loose.add(hex).add(reversed(hex));
  }
  for (const secret of loose) loose.add(reversed(secret));
  return (texts) => {
    if (texts.some((text) => coded.some((form) => text.includes(form)))) return true;
    const joined = bare(texts.join("").replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => fromHex(code)));
    return [...loose].some((form) => joined.includes(form));
  };
}

/** Base64 of the secret, as it stands inside of a longer text that is encoded: without what depends on its neighbours. */
function encodings(secret: string): string[] {
  const forms: string[] = [];
  for (let offset = 0; offset < BYTES_PER_GROUP; offset += 1) {
    const bytes = Buffer.from(" ".repeat(offset) + secret);
    const start = offset === 0 ? 0 : offset + 1;
    const rest = bytes.length % BYTES_PER_GROUP;
    for (const form of ["base64", "base64url"] as const) {
      const text = bytes.toString(form).replaceAll("=", "");
      const own = text.slice(start, rest === 0 ? undefined : -1);
      if (own.length >= MIN_CODED_CHARACTERS) forms.push(own, reversed(own));
    }
  }
  return forms;
}

function bare(text: string): string {
  return text.replaceAll(/[^a-z0-9]+/gi, "").toLowerCase();
}

function reversed(text: string): string {
  return Array.from(text).toReversed().join("");
}

function fromHex(code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16));
}
