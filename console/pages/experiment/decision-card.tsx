import type { Decision } from '@switchyard/contract/experiments/comparisons/decisions.ts';
import type { Question } from '@switchyard/contract/experiments/comparisons/questions.ts';
import {
  DECISION_WORDS,
  formatOtherLooks,
} from '@switchyard/contract/experiments/presentation/decide-release.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { VerdictBadge } from '../../ui/experiments/verdict-badge.tsx';
import styles from './comparison/comparison-view.module.css';

interface DecisionCardProps {
  application: string;
  experiment: { decision?: Decision; question?: Question };
}

/** The decision to release the candidate, with the reason and earlier looks. It renders nothing without a decision. */
export function DecisionCard({ application, experiment }: DecisionCardProps) {
  const { decision, question } = experiment;
  if (!decision) return null;
  const looks = formatOtherLooks(experiment);
  return (
    <section className={styles.outcome} aria-label="Decision">
      <h2 className={styles.headline}>
        <VerdictBadge verdict={DECISION_WORDS[decision.release].toLowerCase()} />
        {question && <span className={styles.interim}>Look {formatNumber(question.look)}</span>}
      </h2>
      <p>{escapeInvisible(decision.reason)}</p>
      {looks !== null && <p>{escapeInvisible(looks)}</p>}
      {question && question.earlier.length > 0 && (
        <EarlierLooks application={application} looks={question.earlier} />
      )}
    </section>
  );
}

/** The earlier experiments with the same question, oldest first, with the inputs that they share with this one. */
function EarlierLooks({ application, looks }: { application: string; looks: Question['earlier'] }) {
  return (
    <p className={styles.hint}>
      Earlier looks:{' '}
      {looks.map(({ type, experiment_id: id, deleted, shared_inputs }, index) => (
        <Fragment key={`${type} ${id} ${index}`}>
          {index > 0 && ', '}
          {deleted ? (
            <bdi>{id}</bdi>
          ) : (
            <Link to="/apps/$application/experiments/$type/$id" params={{ application, type, id }}>
              <bdi>{id}</bdi>
            </Link>
          )}
          {` (${formatNumber(shared_inputs)} shared inputs${deleted ? ', deleted' : ''})`}
        </Fragment>
      ))}
    </p>
  );
}
