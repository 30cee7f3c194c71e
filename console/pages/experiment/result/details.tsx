import type { Question } from '@switchyard/contract/experiments/comparisons/questions.ts';
import type { Group } from '@switchyard/contract/experiments/presentation/group-labels.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { curlQuotes } from '@switchyard/contract/presentation/format-count.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { Link } from '@tanstack/react-router';
import aside from '../../../ui/aside.module.css';
import { FactList } from '../../../ui/facts.tsx';
import { PromotionText } from '../actions/promotion.tsx';
import styles from '../experiment-page.module.css';
import type { ResultFrameProps } from './result-frame.tsx';

type DetailsProps = Pick<
  ResultFrameProps,
  'application' | 'experiment' | 'verdict' | 'sides' | 'rule' | 'reasons'
>;

/** The column beside the evidence: what a decision does, the looks so far, both sides, and the rule. */
export function Details({ application, experiment, verdict, sides, rule = [], ...props }: DetailsProps) {
  const { question } = experiment;
  const reasons = (props.reasons ?? []).filter((one) => !verdict?.follows.includes(one));
  const offers = sides && verdict && verdict.kind !== 'worse' && verdict.kind !== 'open';
  return (
    <aside className={`${aside.aside} ${styles.aside}`} aria-label="Details">
      {offers && <PromotionText application={application} sides={sides} />}
      {sides && (
        <section>
          <h2>Sides</h2>
          <FactList
            layout="rows"
            facts={[
              ['Control', nameSide(sides.control)],
              ['Candidate', nameSide(sides.candidate)],
              ...Object.entries(sides.options ?? {}),
            ]}
          />
        </section>
      )}
      {rule.length > 0 && (
        <section>
          <h2>Rule</h2>
          <FactList layout="rows" facts={rule} />
        </section>
      )}
      {reasons.length > 0 && (
        <section>
          <h2>Why</h2>
          <ul>
            {reasons.map((reason) => (
              <li key={reason}>{curlQuotes(escapeInvisible(reason)).replaceAll(' %', '\u00a0%')}</li>
            ))}
          </ul>
        </section>
      )}
      {question && <Looks application={application} question={question} />}
    </aside>
  );
}

function nameSide({ instance_id, version_id, ensemble_id, option_set }: Group): string {
  return [ensemble_id ?? instance_id, version_id, option_set].filter(Boolean).join(', ') || 'latest';
}

/** The number of this look at the question, and the earlier ones, oldest first. */
function Looks({ application, question }: { application: string; question: Question }) {
  const { look, reading, earlier, changes } = question;
  return (
    <section aria-label="Looks">
      <h2>Look {formatNumber(look)}</h2>
      <p>{curlQuotes(escapeInvisible([reading, ...changes].join(' ')))}</p>
      {earlier.length > 0 && (
        <ul>
          {earlier.map(({ type, experiment_id: id, deleted, shared_inputs }, index) => (
            <li key={`${type} ${id} ${index}`}>
              {deleted ? (
                <bdi>{id}</bdi>
              ) : (
                <Link to="/apps/$application/experiments/$type/$id" params={{ application, type, id }}>
                  <bdi>{id}</bdi>
                </Link>
              )}
              {`, ${formatNumber(shared_inputs)} shared inputs${deleted ? ', deleted' : ''}`}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
