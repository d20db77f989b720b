import { useState } from "preact/hooks";
import type { RunSummary } from "../src/console/schemas.ts";
import { Activity } from "./activity.tsx";
import { startRun } from "./api.ts";
import { FilterRuns, useFilter } from "./filter-runs.tsx";
import { Empty, formatCount, formatMs, formatWhen, Problem, Status, textIn } from "./parts.tsx";
import { Redacted } from "./redacted.tsx";
import { Run } from "./run.tsx";
import { Split } from "./split.tsx";
import type { Feed } from "./use-runs.ts";

export function Runs({ feed, selected }: { feed: Feed; selected: string }) {
  const filter = useFilter(feed);
  const run = [...feed.runs, ...filter.runs].find(({ id }) => id === selected);
  return (
    <Split
      view="runs"
      title="Runs"
      selected={selected}
      hint={
        <div class="run">
          <Activity version={feed.runs.map(({ id, status }) => `${id} ${status}`).join()} />
          <p class="hint center">Select a run to see its code, calls and result.</p>
        </div>
      }
      list={
        <>
          <StartRun />
          <Problem text={feed.problem} />
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
        </>
      }
    >
      <Run key={selected} id={selected} summary={run} />
    </Split>
  );
}

function RunLink({ run, isSelected }: { run: RunSummary; isSelected: boolean }) {
  const facts = [
    run.stage ?? "",
    formatWhen(run.startedAt),
    run.calls === 0 ? "" : `${run.calls} ${run.calls === 1 ? "call" : "calls"}`,
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
      await startRun(kind, input);
      setProblem("");
      form.reset();
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
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      {problem !== "" && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="row end">
        <span class="hint">Ctrl+Enter</span>
        <button class="primary">Run</button>
      </p>
    </form>
  );
}
