const TOKEN = /(\[\[[A-Z][A-Z\d_]{0,31}:[a-z2-7]{16}\]\])/;
/** Characters that turn round what follows them, so that a text reads otherwise than it is. */
const DIRECTIONS = /[\u202A-\u202E\u2066-\u2069]/g;

/** A text in which the tokens of personal data, and characters that change its direction, stand out. */
export function Redacted({ text }: { text: string }) {
  return (
    <>
      {text.split(TOKEN).map((part) => {
        const type = TOKEN.test(part) ? part.slice(2, part.indexOf(":")) : undefined;
        return type === undefined ? (
          part.replace(DIRECTIONS, (one) => `<U+${one.charCodeAt(0).toString(16).toUpperCase()}>`)
        ) : (
          <mark title={part}>{type.toLowerCase().replaceAll("_", " ")}</mark>
        );
      })}
    </>
  );
}
