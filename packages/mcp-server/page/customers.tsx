import { useRef, useState } from "preact/hooks";
import type { CustomerList } from "../src/console/schemas.ts";
import { Activity } from "./activity.tsx";
import { send } from "./api.ts";
import { Empty, formatBytes, formatCount, formatTime, Problem, textIn, useAnswer } from "./parts.tsx";

type Customer = CustomerList["customers"][number];

export function Customers() {
  const [round, setRound] = useState(0);
  const { answer, problem } = useAnswer<CustomerList>("customers", `${round}`);
  return (
    <div class="page">
      <h1>Customers</h1>
      <Problem text={problem} />
      {answer?.absent !== undefined && <p class="hint">{answer.absent}</p>}
      {answer?.absent === undefined && answer?.customers.length === 0 && (
        <Empty title="No customers yet">
          <p>
            A server has customers where <code>customers.header</code> or a token names them. Each has a
            workspace of its own.
          </p>
        </Empty>
      )}
      {(answer?.customers.length ?? 0) > 0 && <Activity version={`${round}`} />}
      {answer?.customers.map((customer) => (
        <OneCustomer key={customer.id} customer={customer} onRemoved={() => setRound((at) => at + 1)} />
      ))}
    </div>
  );
}

function OneCustomer({ customer, onRemoved }: { customer: Customer; onRemoved: () => void }) {
  const { id, bytes, entries, lastUsed, quotas } = customer;
  return (
    <section class="part customer" aria-label={id}>
      <h2>{id}</h2>
      <p class="hint">
        {formatBytes(bytes)} in {formatCount(entries)} files and folders · last at work {formatTime(lastUsed)}
      </p>
      {quotas.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Quota per</th>
              <th scope="col" class="number">
                Runs
              </th>
              <th scope="col" class="number">
                Seconds
              </th>
            </tr>
          </thead>
          <tbody>
            {quotas.map(({ per, runs, maxRuns, seconds, maxSeconds }) => (
              <tr key={per}>
                <td>{per}</td>
                <td class="number">{used(runs, maxRuns)}</td>
                <td class="number">{used(Math.round(seconds * 10) / 10, maxSeconds)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Removal id={id} onRemoved={onRemoved} />
    </section>
  );
}

/** Everything of a customer goes only after the id was written once more. */
function Removal({ id, onRemoved }: { id: string; onRemoved: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState<string>();
  const remove = async (confirm: string): Promise<void> => {
    try {
      await send(`customers/${encodeURIComponent(id)}`, { confirm }, "DELETE");
      dialog.current?.close();
      onRemoved();
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <>
      <button class="quiet danger" onClick={() => dialog.current?.showModal()}>
        Delete {id}…
      </button>
      <dialog ref={dialog} aria-labelledby={`delete-${id}`}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void remove(textIn(event.currentTarget, "confirm"));
          }}
        >
          <h2 id={`delete-${id}`}>Delete everything of {id}?</h2>
          <p>
            Workspace, state, skills, sessions, sign-ins, kept values and records of runs go, and runs under
            way are ended. This can't be undone.
          </p>
          <label for={`confirm-${id}`}>Write the id once more</label>
          <input id={`confirm-${id}`} name="confirm" autocomplete="off" spellcheck={false} required />
          <Problem text={problem} />
          <p class="row">
            <button class="danger">Delete</button>
            <button type="button" onClick={() => dialog.current?.close()}>
              Keep
            </button>
          </p>
        </form>
      </dialog>
    </>
  );
}

function used(amount: number, most: number | undefined): string {
  return most === undefined ? formatCount(amount) : `${formatCount(amount)} of ${formatCount(most)}`;
}
