const TOKEN = /(\[\[[A-Z][A-Z\d_]{0,31}:[a-z2-7]{16}\]\])/;

/** A text in which the tokens of personal data stand out. */
export function Redacted({ text }: { text: string }) {
  return (
    <>
      {text.split(TOKEN).map((part) => {
        const type = TOKEN.test(part) ? part.slice(2, part.indexOf(":")) : undefined;
        return type === undefined ? (
          part
        ) : (
          <mark title={part}>{type.toLowerCase().replaceAll("_", " ")}</mark>
        );
      })}
    </>
  );
}
