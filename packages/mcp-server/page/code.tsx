import { useState } from "preact/hooks";
import { parse } from "sugar-high/core";
import { tokenize } from "sugar-high/lang/typescript";
import { Redacted } from "./redacted.tsx";

/** Longer text is shown without colors, which take a moment for each thousand lines. */
const MAX_COLORED_CHARACTERS = 50_000;
const COPIED_MS = 1_500;

/** A block of text that can be copied. What is wider than the page is scrolled with the keyboard too. */
export function Code({
  text,
  label,
  isProgram = false,
}: {
  text: string;
  label: string;
  isProgram?: boolean;
}) {
  return (
    <div class="block">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>
          {isProgram && text.length <= MAX_COLORED_CHARACTERS ? (
            <Colored text={text} />
          ) : (
            <Redacted text={text} />
          )}
        </code>
      </pre>
      <Copy text={text} label={label} />
    </div>
  );
}

function Colored({ text }: { text: string }) {
  return (
    <>
      {parse(text, { tokenize }).lines.map(({ index, tokens }) => (
        <>
          {index > 0 && "\n"}
          {tokens
            .filter(({ type }) => type !== "break")
            .map(({ type, value }, at) => (
              <span key={at} class={`is-${type}`}>
                <Redacted text={value} />
              </span>
            ))}
        </>
      ))}
    </>
  );
}

/** Absent where the browser lets no page write to the clipboard. */
function Copy({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  if ((navigator as Partial<Navigator>).clipboard === undefined) return null;
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return (
    <button
      class="copy"
      aria-label={`Copy ${label.toLowerCase()}`}
      onClick={() => void copy().catch(() => {})}
    >
      {isCopied ? "Copied" : "Copy"}
    </button>
  );
}
