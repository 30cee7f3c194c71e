import {
  formatBytes,
  formatDuration,
  formatNumber,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useId } from 'react';
import styles from './summary-tab.module.css';

const CONTAINMENTS: Record<RunInformation['metadata']['containment'], string> = {
  '': 'Not started here',
  sandbox: 'Sandbox',
  limits: "Limits only: the rights of the server's user",
};

/** Limits, containment and use of resources. */
export function ExecutionFacts({ run }: { run: RunInformation }) {
  const headingId = useId();
  return (
    <section className={styles.section} aria-labelledby={headingId}>
      <h2 id={headingId}>Execution</h2>
      <dl className={styles.facts}>
        {listFacts(run).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function listFacts({ metadata, runtime }: RunInformation): [name: string, value: string][] {
  const {
    limits,
    peak_memory_bytes: peak,
    runtime_version: version,
    secrets_collection_id: secrets,
  } = metadata;
  const share =
    peak === undefined || !limits ? '' : ` (${formatPercent(peak / limits.memory_bytes)} of the limit)`;
  return [
    ...(limits
      ? [
          ['Time limit', formatDuration(limits.duration_ms)] satisfies [string, string],
          ['Cores', formatNumber(limits.cores)] satisfies [string, string],
          ['Memory limit', formatBytes(limits.memory_bytes)] satisfies [string, string],
        ]
      : []),
    ['Peak memory', peak === undefined ? 'Not sampled' : `${formatBytes(peak)}${share}`],
    ['Containment', CONTAINMENTS[metadata.containment]],
    ['Runtime', version === undefined ? runtime || 'None' : `${runtime} (on ${version})`],
    ['Input', `${formatBytes(metadata.input_size)}, ${metadata.format.input.type}`],
    ['Output', `${formatBytes(metadata.output_size)}, ${metadata.format.output.type}`],
    ['Priority', `${metadata.queuing_priority}${metadata.queuing_disabled ? ', never queued' : ''}`],
    ...(secrets === undefined ? [] : [['Secrets', secrets] satisfies [string, string]]),
  ];
}
