import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/forms/field.tsx';
import form from '../../ui/forms/form.module.css';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { createGroup, type GroupDraft } from './draft.ts';

/** The groups of runs of a new ensemble. At least one stays. */
export function GroupFields({
  groups,
  instances,
  onChange,
}: {
  groups: readonly GroupDraft[];
  instances: readonly string[];
  onChange: (groups: readonly GroupDraft[]) => void;
}) {
  const replace = (index: number, values: Partial<GroupDraft>) =>
    onChange(groups.map((group, at) => (at === index ? { ...group, ...values } : group)));
  return (
    <section className={form.section} aria-labelledby="groups">
      <h2 id="groups">Run groups</h2>
      <p className="soft">All runs of all groups get the same input.</p>
      {groups.map((group, index) => (
        <fieldset key={index} className={form.item}>
          <legend>Group {index + 1}</legend>
          <div className={form.row}>
            <TextField label="Group id" value={group.id} onChange={(id) => replace(index, { id })} />
            <SelectField
              label="Instance"
              value={group.instance}
              options={instances}
              onChange={(instance) => replace(index, { instance })}
            />
            <TextField
              label="Runs"
              value={group.repetitions}
              onChange={(repetitions) => replace(index, { repetitions })}
            />
            <Field label="Options" help="name=value, one a line.">
              {(attributes) => (
                <textarea
                  {...attributes}
                  rows={2}
                  value={group.options}
                  spellCheck={false}
                  onChange={(event) => replace(index, { options: event.target.value })}
                />
              )}
            </Field>
          </div>
          {groups.length > 1 && (
            <Button kind="quiet" onPress={() => onChange(groups.filter((_, at) => at !== index))}>
              Remove group {index + 1}
            </Button>
          )}
        </fieldset>
      ))}
      <div>
        <Button
          onPress={() =>
            onChange([...groups, createGroup(groups.at(-1)?.instance ?? 'latest', groups.length)])
          }
        >
          Add group
        </Button>
      </div>
    </section>
  );
}
