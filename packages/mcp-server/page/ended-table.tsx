import type { ComponentChildren } from "preact";

/** A table of what was carried out, how it ended, and a figure of each. Its rows are {@link EndedRow}. */
export function EndedTable({
  what,
  figure,
  children,
}: {
  what: string;
  figure: string;
  children: ComponentChildren;
}) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{what}</th>
          <th scope="col">Ended</th>
          <th scope="col" class="number">
            {figure}
          </th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** One that has ended; `error` stands out. */
export function EndedRow({
  name,
  ended,
  figure,
  children,
}: {
  name: string;
  ended: string;
  figure: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <tr>
      <td>
        <code>{name}</code>
        {children}
      </td>
      <td>{ended === "error" ? <strong class="bad">error</strong> : ended}</td>
      <td class="number">{figure}</td>
    </tr>
  );
}
