import type { Session, SessionList } from "../src/console/history-schemas.ts";
import { Code, Empty, Entry, formatTime, Problem, Redacted, useAnswer } from "./parts.tsx";

export function Sessions({ selected }: { selected: string }) {
  const { answer, problem } = useAnswer<SessionList>("sessions");
  return (
    <div class="page">
      <h1>Sessions</h1>
      <Problem text={problem} />
      {answer?.absent !== undefined && <p class="hint">{answer.absent}</p>}
      {answer?.absent === undefined && answer?.sessions.length === 0 && (
        <Empty title="No sessions yet">
          <p>
            What runs do is kept in the log of their session while <code>execution.state.auto_save</code> is
            true.
          </p>
        </Empty>
      )}
      <ul class="runs">
        {answer?.sessions.map(({ id, startedAt, endedAt, tasks, lastTask }) => (
          <Entry key={id} to={`#sessions/${encodeURIComponent(id)}`} isSelected={id === selected} title={id}>
            <span>
              {formatTime(startedAt)} · {tasks} {tasks === 1 ? "task" : "tasks"}
              {endedAt === null && " · not ended"}
              {lastTask !== "" && (
                <>
                  {" · "}
                  <Redacted text={lastTask} />
                </>
              )}
            </span>
          </Entry>
        ))}
      </ul>
      {selected !== "" && <OneSession id={selected} />}
    </div>
  );
}

function OneSession({ id }: { id: string }) {
  const { answer: session, problem } = useAnswer<Session>(`sessions/${encodeURIComponent(id)}`);
  if (session === undefined) return <Problem text={problem} />;
  return (
    <section class="part" aria-label={session.id}>
      <h2>{session.id}</h2>
      <p class="hint">
        Go on with it: <code>cem sessions resume {session.id} "&lt;task&gt;"</code>
      </p>
      <h3>What a model is told of it</h3>
      <Code label="Recap" text={session.recap} />
      {session.tasks.map((task) => (
        <section key={task.id} aria-label={task.id}>
          <h3>
            <Redacted text={task.description === "" ? "Given code" : task.description} />
          </h3>
          <p class="hint">{formatTime(task.at)}</p>
          {task.error !== null && <Problem text={task.error} />}
          <Code label={`Code of ${task.id}`} text={task.code} />
          <Code label={`Result of ${task.id}`} text={JSON.stringify(task.result, null, 2)} />
        </section>
      ))}
    </section>
  );
}
