import { useState } from "preact/hooks";
import type { RunSummary } from "../src/console/schemas.ts";
import { send } from "./api.ts";
import { FilterRuns, useFilter } from "./filter-runs.tsx";
import { Empty, formatCount, formatMs, Redacted, Status, textIn } from "./parts.tsx";
import { Run } from "./run.tsx";
import type { Feed } from "./use-runs.ts";

export function Runs({ feed, selected }: { feed: Feed; selected: string }) {
  const filter = useFilter(feed);
  const run = [...feed.runs, ...filter.runs].find(({ id }) => id === selected);
  return (
    <div class={`split ${selected === "" ? "" : "has-selected"}`}>
      <section class="list" aria-labelledby="runs-title">
        <h1 id="runs-title">Runs</h1>
        <StartRun />
        {feed.isLoaded && feed.runs.length === 0 && (
          <Empty title="No runs yet">
            <p>Start one above, or connect an MCP client to this server: what it runs appears here.</p>
          </Empty>
        )}
        {feed.runs.length > 0 && <FilterRuns filter={filter} />}
        <ul class="runs">
          {filter.runs.map((one) => (
            <RunLink key={one.id} run={one} isSelected={one.id === selected} />
          ))}
        </ul>
      </section>
      <section class="details" aria-label="Selected run">
        {selected === "" ? (
          <p class="hint center">Select a run to see its code, calls and result.</p>
        ) : (
          <Run id={selected} summary={run} />
        )}
      </section>
    </div>
  );
}

function RunLink({ run, isSelected }: { run: RunSummary; isSelected: boolean }) {
  const facts = [
    `${run.calls} ${run.calls === 1 ? "call" : "calls"}`,
    formatMs(run.ms),
    run.tokensSaved === undefined ? "" : `${formatCount(run.tokensSaved)} tokens kept out`,
    run.redacted === 0 ? "" : `${run.redacted} redacted`,
  ].filter((fact) => fact !== "");
  return (
    <li>
      <a href={`#runs/${run.id}`} aria-current={isSelected ? "true" : undefined}>
        <span class={`title ${run.kind}`}>
          <Redacted text={run.title || "…"} />
        </span>
        <span class="facts">
          <Status status={run.status} /> <span>{facts.join(" · ")}</span>
        </span>
      </a>
    </li>
  );
}

function StartRun() {
  const [kind, setKind] = useState<"task" | "code">("task");
  const [problem, setProblem] = useState("");
  const start = async (form: HTMLFormElement): Promise<void> => {
    const input = textIn(form, "input");
    try {
      const path = kind === "task" ? "tasks" : "runs";
      const { id } = await send<{ id: string }>(path, { [kind]: input });
      setProblem("");
      form.reset();
      location.hash = `runs/${id}`;
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <form
      class="start"
      onSubmit={(event) => {
        event.preventDefault();
        void start(event.currentTarget);
      }}
    >
      <fieldset>
        <legend class="unseen">What to run</legend>
        {(["task", "code"] as const).map((one) => (
          <label key={one}>
            <input type="radio" name="kind" checked={kind === one} onChange={() => setKind(one)} />
            {one === "task" ? "Task" : "Code"}
          </label>
        ))}
      </fieldset>
      <label class="unseen" for="input">
        {kind === "task" ? "Task in words" : "TypeScript to run"}
      </label>
      <textarea
        id="input"
        name="input"
        class={kind}
        rows={kind === "task" ? 2 : 6}
        required
        spellcheck={kind === "task"}
        placeholder={kind === "task" ? "Calculate 5 + 3" : "return 5 + 3;"}
      />
      {problem !== "" && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <button class="primary">Run</button>
    </form>
  );
}
