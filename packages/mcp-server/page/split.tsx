import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Problem } from "./parts.tsx";

/** A list with the details of what is selected beside it; on a narrow screen one or the other. */
export function Split({
  view,
  title,
  selected,
  hint,
  list,
  children,
}: {
  /** The view's name in addresses. */
  view: string;
  title: string;
  /** Empty for nothing. */
  selected: string;
  /** Shown while nothing is selected. */
  hint: ComponentChildren;
  list: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <div class={`split ${selected === "" ? "" : "has-selected"}`}>
      <section class="list" aria-labelledby="list-title">
        <h1 id="list-title">{title}</h1>
        {list}
      </section>
      <section class="details" aria-label="Details">
        {selected === "" ? (
          hint
        ) : (
          <>
            <p class="back">
              <a href={`#${view}`}>← {title}</a>
            </p>
            {children}
          </>
        )}
      </section>
    </div>
  );
}

/** The heading of details, which takes the focus when they open. */
export function DetailsTitle({ children, kind = "" }: { children: ComponentChildren; kind?: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <h1 id="details-title" class={`details-title ${kind}`} ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}

/** In place of details that are not there, or not yet. */
export function NoDetails({ problem }: { problem: string | undefined }) {
  if (problem === undefined) return <p class="hint center">Loading…</p>;
  return (
    <article class="run">
      <DetailsTitle>Not shown</DetailsTitle>
      <Problem text={problem} />
    </article>
  );
}
