import { useState } from "preact/hooks";
import type { State as StateData } from "../src/console/schemas.ts";
import { Code } from "./code.tsx";
import { Empty, textIn, useAnswer } from "./parts.tsx";

export function State() {
  const [file, setFile] = useState("state.json");
  const { answer, problem } = useAnswer<StateData>(`state?${new URLSearchParams({ file })}`);
  return (
    <div class="page">
      <h1>State</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setFile(textIn(event.currentTarget, "file").trim() || "state.json");
        }}
      >
        <label for="file">File in the workspace</label>
        <span class="row">
          <input id="file" name="file" defaultValue="state.json" autocomplete="off" spellcheck={false} />
          <button>Show</button>
        </span>
      </form>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {answer?.exists === false && (
        <Empty title="Nothing is kept here">
          <p>
            Code keeps state by writing <code>/workspace/{file}</code>, a model by <code>save_state</code>.
          </p>
        </Empty>
      )}
      {answer?.exists === true && (
        <section class="part" aria-label="Content">
          <Code label={file} text={JSON.stringify(answer.data, null, 2)} />
        </section>
      )}
    </div>
  );
}
