import { Field } from '../../ui/forms/field.tsx';
import form from '../../ui/forms/form.module.css';
import { RepeatedFields } from '../../ui/forms/repeated-fields.tsx';
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
  return (
    <section className={form.section} aria-labelledby="groups" id="next-instance">
      <h2 id="groups">Run groups</h2>
      <p className="soft">All runs of all groups get the same input.</p>
      <RepeatedFields
        noun="group"
        items={groups}
        create={() => createGroup(groups.at(-1)?.instance ?? '', groups.length)}
        onChange={onChange}
      >
        {(group, replace) => (
          <div className={form.row}>
            <TextField label="Group id" value={group.id} onChange={(id) => replace({ id })} />
            <SelectField
              label="Instance"
              value={group.instance}
              options={[
                ...(group.instance === '' ? [{ value: '', label: 'Choose an instance' }] : []),
                ...instances,
              ]}
              onChange={(instance) => replace({ instance })}
            />
            <TextField
              label="Runs"
              value={group.repetitions}
              onChange={(repetitions) => replace({ repetitions })}
            />
            <Field label="Options" help="name=value, one a line.">
              {(attributes) => (
                <textarea
                  {...attributes}
                  rows={2}
                  value={group.options}
                  spellCheck={false}
                  onChange={(event) => replace({ options: event.target.value })}
                />
              )}
            </Field>
          </div>
        )}
      </RepeatedFields>
    </section>
  );
}
