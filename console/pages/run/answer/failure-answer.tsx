import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { AnswerSentence } from '../../../ui/answer.tsx';
import { LinkButton } from '../../../ui/button.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { useFailure } from '../log/use-failure.ts';
import { useBaseline } from '../progress/baseline.ts';
import type { RunAddress } from '../queries.ts';
import styles from './run-answer.module.css';

/** The reason of the failure in a person's words, then in those of the platform, and the way to the last good run. */
export function FailureAnswer({ address, run }: { address: RunAddress; run: RunInformation }) {
  const { last } = useBaseline(run, undefined);
  const { title, detail } = useFailure(run);
  return (
    <AnswerSentence icon="bad" tone="bad" title={escapeInvisible(title)}>
      {detail !== '' && (
        <p>
          <bdi>{escapeInvisible(detail)}</bdi>
        </p>
      )}
      {run.output_size === 0 && <p>There is no output from this run.</p>}
      {last && (
        <div className={styles.links}>
          <LinkButton
            to="/apps/$application/runs/$run"
            params={{ application: address.application, run: last.id }}
          >
            <span>
              Open the last good run, <RelativeTime at={last.created_at} />
            </span>
          </LinkButton>
        </div>
      )}
    </AnswerSentence>
  );
}
