import type { Input } from '@switchyard/contract/applications/inputs.ts';
import { RunLink } from '../../ui/run-link.tsx';

/** The origin of an input. Its run may be deleted; the page of the run says so. */
export function InputSource({ application, input }: { application: string; input: Input }) {
  if (input.run_id === undefined) return 'file';
  return (
    <RunLink application={application} run={input.run_id}>
      <code>{input.run_id}</code>
    </RunLink>
  );
}
