import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import type { ExperimentDraft } from './draft.ts';
import styles from './new-experiment-page.module.css';
import type { Choices } from './queries.ts';

interface LiveFieldsProps {
  draft: ExperimentDraft;
  choices: Choices;
  change: (values: Partial<ExperimentDraft>) => void;
}

/** How many runs of the baseline a shadow test copies. */
export function ShadowFields({ draft, change }: LiveFieldsProps) {
  return (
    <section className={styles.section} aria-label="Copies">
      <div className={styles.row}>
        <TextField
          label="Maximum number of copied runs"
          help="The test ends after so many runs of the baseline."
          value={draft.maximumRuns}
          onChange={(maximumRuns) => change({ maximumRuns })}
        />
        <TextField
          label="Share of runs to copy, %"
          help="A smaller share spreads the copies over a longer time."
          value={draft.sampleShare}
          onChange={(sampleShare) => change({ sampleShare })}
        />
      </div>
    </section>
  );
}

const DESIGNS = [
  { value: 'blocked', label: 'Blocked: both serve the same hours equally often' },
  { value: 'independent', label: 'Independent: one coin for each unit' },
  { value: 'regular', label: 'Regular: one coin for several units' },
];

/** The plan of a switchback test. */
export function SwitchbackFields({ draft, change }: LiveFieldsProps) {
  return (
    <section className={styles.section} aria-label="Plan">
      <div className={styles.row}>
        <TextField label="Units" value={draft.units} onChange={(units) => change({ units })} />
        <TextField
          label="Minutes of a unit"
          value={draft.unitMinutes}
          onChange={(unitMinutes) => change({ unitMinutes })}
        />
        <TextField
          label="Units that a switch influences"
          help="They do not count, because the instance before may still have an effect."
          value={draft.carryOverUnits}
          onChange={(carryOverUnits) => change({ carryOverUnits })}
        />
        <SelectField
          label="Design"
          value={draft.design}
          options={DESIGNS}
          onChange={(design) =>
            change({ design: design === 'independent' || design === 'regular' ? design : 'blocked' })
          }
        />
      </div>
    </section>
  );
}

/** The versions to search, and the difference that matters. */
export function BisectFields({ draft, choices, change }: LiveFieldsProps) {
  return (
    <section className={styles.section} aria-label="Search">
      <div className={styles.row}>
        <SelectField
          label="Good version"
          value={draft.goodVersion}
          options={choices.versions}
          onChange={(goodVersion) => change({ goodVersion })}
        />
        <SelectField
          label="Bad version"
          help="A later version, whose results are worse."
          value={draft.badVersion}
          options={choices.versions}
          onChange={(badVersion) => change({ badVersion })}
        />
        <SelectField
          label="Configuration of"
          help="The instance whose options the runs have."
          value={draft.control}
          options={choices.instances}
          onChange={(control) => change({ control })}
        />
        <TextField
          label="Difference that matters, %"
          help="A smaller one needs more runs."
          value={draft.difference}
          onChange={(difference) => change({ difference })}
        />
      </div>
    </section>
  );
}
