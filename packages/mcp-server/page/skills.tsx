import type { SkillDetails, SkillList } from "../src/console/schemas.ts";
import { Code, Empty, Redacted, useAnswer } from "./parts.tsx";

export function Skills({ selected }: { selected: string }) {
  const { answer, problem } = useAnswer<SkillList>("skills");
  return (
    <div class="page">
      <h1>Skills</h1>
      {problem !== undefined && <p class="hint">{problem}</p>}
      {answer?.skills.length === 0 && (
        <Empty title="No skills yet">
          <p>
            Code that worked can be kept: a model proposes it with <code>save_skill</code>, and a person
            promotes it with <code>cem skills promote</code>.
          </p>
        </Empty>
      )}
      <ul class="runs">
        {answer?.skills.map(({ name, description, status, version, changedTools }) => (
          <li key={`${name}${status}`}>
            <a
              href={`#skills/${encodeURIComponent(name)}`}
              aria-current={name === selected ? "true" : undefined}
            >
              <span class="title">
                {name} <small>version {version}</small>
              </span>
              <span class="hint">
                <Redacted text={description} />
              </span>
              {status === "proposal" && <span class="tag">proposal</span>}
              {changedTools.length > 0 && (
                <span class="tag bad">tools changed: {changedTools.join(", ")}</span>
              )}
            </a>
          </li>
        ))}
      </ul>
      {selected !== "" && <Skill name={selected} />}
    </div>
  );
}

function Skill({ name }: { name: string }) {
  const { answer: skill } = useAnswer<SkillDetails>(`skills/${encodeURIComponent(name)}`);
  if (skill === undefined) return null;
  return (
    <section class="part" aria-labelledby="skill-title">
      <h2 id="skill-title">{skill.name}</h2>
      {skill.instructions !== "" && <Code label="Instructions" text={skill.instructions} />}
      {skill.code !== "" && <Code label="Code" text={skill.code} />}
      {skill.test !== "" && <Code label="Test" text={skill.test} />}
    </section>
  );
}
