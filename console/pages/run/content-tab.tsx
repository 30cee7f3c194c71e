import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { RunContent } from '../../ui/solution/run-content.tsx';
import type { RunSearch } from './search.ts';

interface ContentTabProps {
  run: RunInformation;
  part: 'input' | 'output';
  mode: RunSearch['mode'];
  onSelectMode: (mode: RunSearch['mode']) => void;
}

/** The input or output of a run. An output is read only after the end of its run, because it never changes then. */
export function ContentTab({ run, part, mode, onSelectMode }: ContentTabProps) {
  if (part === 'output' && !isTerminal(run.status_v2))
    return <p className="soft">The output appears when the run has ended.</p>;
  if (part === 'output' && run.output_size === 0)
    return <p className="soft">The run has no output. Its log may say why.</p>;
  return (
    <RunContent
      application={run.application_id}
      run={run.id}
      part={part}
      mode={mode}
      onSelectMode={onSelectMode}
    />
  );
}
