import type { ExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { Decision } from '@switchyard/contract/experiments/comparisons/decisions.ts';
import type { Question } from '@switchyard/contract/experiments/comparisons/questions.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import type { ReactNode } from 'react';
import { AnswerSentence } from '../../../ui/answer.tsx';
import type { Facts } from '../../../ui/facts.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { type DescribedExperiment, ExperimentHeader } from '../experiment-header.tsx';
import styles from '../experiment-page.module.css';
import type { Sides } from '../sides.ts';
import { DECIDERS, type Verdict, type VerdictKind } from '../verdict/describe-verdict.ts';
import { Details } from './details.tsx';

export interface ResultFrameProps {
  type: ExperimentType;
  application: string;
  experiment: DescribedExperiment & {
    decision?: Decision;
    question?: Question;
    warnings?: readonly string[];
  };
  verdict: Verdict | null;
  /** What the page says while there is no verdict. */
  empty: string;
  sides?: Sides | undefined;
  /** Facts about the rule that decides. */
  rule?: Facts;
  /** Why the verdict is as it is. */
  reasons?: readonly string[];
  /** Buttons that start and end a test on live runs. */
  actions?: ReactNode;
  /** Further actions of such a test. */
  menu?: ReactNode;
  /** The picture of the answer. */
  picture?: ReactNode;
  /** The evidence. */
  children: ReactNode;
}

const ICONS = { better: 'good', worse: 'bad', equivalent: 'equal', open: 'waiting' } as const;
const TONES: Record<VerdictKind, 'good' | 'bad' | 'soft'> = {
  better: 'good',
  worse: 'bad',
  equivalent: 'soft',
  open: 'soft',
};

/** The result of an experiment: the verdict, its picture, what is to decide, and the evidence. */
export function ResultFrame(props: ResultFrameProps) {
  const { type, application, experiment, sides, actions, menu, picture, children } = props;
  const warnings = experiment.warnings ?? [];
  const deciders = props.verdict?.kind === 'open' ? warnings.filter((one) => DECIDERS.test(one)) : [];
  const verdict = props.verdict && { ...props.verdict, follows: [...deciders, ...props.verdict.follows] };
  return (
    <>
      <ExperimentHeader {...{ type, application, experiment, verdict, sides, actions, menu }} />
      <VerdictSentence verdict={verdict} empty={props.empty} status={experiment.status} />
      <div className={styles.split}>
        <div className={styles.main}>
          {picture}
          <Warnings texts={warnings.filter((one) => !deciders.includes(one))} />
          {children}
        </div>
        <Details {...props} />
      </div>
    </>
  );
}

type SentenceProps = Pick<ResultFrameProps, 'verdict' | 'empty'> & { status: string };

function VerdictSentence({ verdict, empty, status }: SentenceProps) {
  if (verdict === null) {
    const isFailed = status === 'failed';
    return (
      <AnswerSentence
        icon={isFailed ? 'bad' : status === 'canceled' ? 'stopped' : 'waiting'}
        tone={isFailed ? 'bad' : 'soft'}
        title={empty}
      />
    );
  }
  const { kind, claim, rest, follows } = verdict;
  return (
    <AnswerSentence
      icon={ICONS[kind]}
      tone={TONES[kind]}
      title={
        <>
          <span className={TONES[kind] === 'soft' ? undefined : TONES[kind]}>{claim}</span>{' '}
          {escapeInvisible(rest)}
        </>
      }
    >
      {follows.length > 0 && <p>{escapeInvisible(follows.join(' ')).replaceAll(' %', '\u00a0%')}</p>}
    </AnswerSentence>
  );
}

function Warnings({ texts }: { texts: readonly string[] }) {
  if (texts.length === 0) return null;
  return (
    <Notice kind="warning">
      {texts.map((text) => (
        <p key={text}>{escapeInvisible(text)}</p>
      ))}
    </Notice>
  );
}
