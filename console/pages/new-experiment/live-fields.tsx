import form from '../../ui/forms/form.module.css';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { UnitField } from '../../ui/forms/unit-field.tsx';
import { DESIGNS, type ExperimentDraft, parseChoice } from './draft.ts';
import type { Choices } from './queries.ts';

interface LiveFieldsProps {
  draft: ExperimentDraft;
  choices: Choices;
  change: (values: Partial<ExperimentDraft>) => void;
}

/** How many runs of the baseline a shadow test copies. */
export function ShadowFields({ draft, change }: LiveFieldsProps) {
  return (
    <section className={form.section} aria-label="Copies">
      <div className={form.row}>
        <TextField
          label="Copied runs, at most"
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
        <StartTimeField label="Copy runs from" draft={draft} change={change} />
        <TextField
          label="Copy runs until"
          type="datetime-local"
          value={draft.endTime}
          onChange={(endTime) => change({ endTime })}
        />
        <TextField
          label="Clusters of the originals"
          help="Such as caller, day: originals with the same value may resemble each other."
          value={draft.originalClusters}
          onChange={(originalClusters) => change({ originalClusters })}
        />
      </div>
    </section>
  );
}

function StartTimeField({ label, draft, change }: { label: string } & Omit<LiveFieldsProps, 'choices'>) {
  return (
    <TextField
      label={label}
      help="Your local time; the default is the start of the test."
      type="datetime-local"
      value={draft.startTime}
      onChange={(startTime) => change({ startTime })}
    />
  );
}

const DESIGN_OPTIONS = [
  { value: 'blocked', label: 'Blocked: both serve the same hours equally often' },
  { value: 'independent', label: 'Independent: one coin for each unit' },
  { value: 'regular', label: 'Regular: one coin for several units' },
];

/** The plan of a switchback test. */
export function SwitchbackFields({ draft, change }: LiveFieldsProps) {
  return (
    <section className={form.section} aria-label="Plan">
      <div className={form.row}>
        <TextField label="Units" value={draft.units} onChange={(units) => change({ units })} />
        <TextField
          label="Minutes of a unit"
          value={draft.unitMinutes}
          onChange={(unitMinutes) => change({ unitMinutes })}
        />
        <TextField
          label="Carry-over, units"
          help="They do not count, because the instance before may still have an effect."
          value={draft.carryOverUnits}
          onChange={(carryOverUnits) => change({ carryOverUnits })}
        />
        <TextField
          label="Burn-in, minutes"
          help="Runs at the start of each unit that do not count."
          value={draft.burnInMinutes}
          onChange={(burnInMinutes) => change({ burnInMinutes })}
        />
        <StartTimeField label="Start of the first unit" draft={draft} change={change} />
        <SelectField
          label="Design"
          value={draft.design}
          options={DESIGN_OPTIONS}
          onChange={(design) => change({ design: parseChoice(DESIGNS, design) })}
        />
      </div>
    </section>
  );
}

/** The versions to search, and the difference that matters. */
export function BisectFields({ draft, choices, change }: LiveFieldsProps) {
  return (
    <section className={form.section} aria-label="Search">
      <div className={form.row}>
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
          label="Difference that matters"
          help="A smaller one needs more runs."
          value={draft.difference}
          onChange={(difference) => change({ difference })}
        />
        <UnitField
          label="Unit of the difference"
          relative="% of the good version"
          value={draft.differenceType}
          onChange={(differenceType) => change({ differenceType })}
        />
      </div>
    </section>
  );
}
