import { useState } from "preact/hooks";
import type { Catalog, Found, Tool as ToolData } from "../src/console/schemas.ts";
import { Empty, useAnswer } from "./parts.tsx";

export function Tools() {
  const [query, setQuery] = useState("");
  const wanted = query.trim();
  const { answer: catalog, problem } = useAnswer<Catalog>("tools");
  const { answer: found } = useAnswer<Found>(
    wanted === "" ? undefined : `tools/search?${new URLSearchParams({ query: wanted, limit: "20" })}`,
  );
  const servers = catalog?.servers.filter(({ kind }) => kind !== "skill") ?? [];
  return (
    <div class="page">
      <h1>Tools</h1>
      <form role="search" onSubmit={(event) => event.preventDefault()}>
        <label for="query">Search by what a tool does</label>
        <input
          id="query"
          type="search"
          maxLength={1000}
          autocomplete="off"
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
      </form>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="unseen" role="status">
        {found === undefined ? "" : `${found.tools.length} tools found`}
      </p>
      {wanted !== "" && found !== undefined && (
        <section class="part" aria-label="Found">
          {found.tools.length === 0 && <p>No tool matches. Try other or fewer words.</p>}
          <ul class="tools">
            {found.tools.map(({ tool }) => (
              <Tool key={`${tool.server}.${tool.name}`} tool={tool} />
            ))}
          </ul>
          {found.notes.map((note) => (
            <p key={note} class="hint">
              {note}
            </p>
          ))}
        </section>
      )}
      {catalog !== undefined && servers.length === 0 && (
        <Empty title="No tools yet">
          <p>
            Add a server with <code>cem add</code>, or put tool files into <code>servers/</code>.
          </p>
        </Empty>
      )}
      {wanted === "" &&
        servers.map(({ name, description, tools }) => (
          <section key={name} class="part" aria-labelledby={`server-${name}`}>
            <h2 id={`server-${name}`}>
              {name} <small>{tools.length}</small>
            </h2>
            {description !== "" && <p class="hint">{description}</p>}
            <ul class="tools">
              {tools.map((tool) => (
                <Tool key={tool.name} tool={tool} />
              ))}
            </ul>
          </section>
        ))}
      {catalog?.problems.map(({ server, message }) => (
        <p key={message} class="problem">
          {server}: {message}
        </p>
      ))}
    </div>
  );
}

function Tool({ tool }: { tool: ToolData }) {
  return (
    <li>
      <details>
        <summary>
          <code>
            {tool.server}.{tool.name}
          </code>{" "}
          {tool.readOnly && <span class="tag">reads only</span>}
          {tool.unavailable !== undefined && <span class="tag bad">unavailable</span>}
          {tool.warnings.length > 0 && <span class="tag bad">suspicious</span>}
          <span class="hint">{tool.description}</span>
        </summary>
        <pre tabIndex={0} role="region" aria-label={`Signature of ${tool.name}`}>
          <code>{tool.signature}</code>
        </pre>
        <p class="hint">
          Import from <code>{tool.module}</code>
        </p>
        {tool.unavailable !== undefined && <p class="problem">{tool.unavailable}</p>}
        {tool.warnings.map((warning) => (
          <p key={warning} class="problem">
            {warning}
          </p>
        ))}
      </details>
    </li>
  );
}
