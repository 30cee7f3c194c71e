import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { Notice } from '../../ui/notice.tsx';
import { useRight } from '../../ui/use-right.ts';
import styles from './sample-gallery.module.css';
import { SAMPLES, type Sample } from './sample-list.ts';
import { pushSample, SAMPLE_INPUT } from './samples.ts';

/** The page of an account without an application: sample apps to push, here or from a terminal. */
export function SampleGallery() {
  const push = usePush();
  return (
    <>
      <EmptyState
        title="No application yet"
        command="npm run push -- path/to/app my-app"
        request={formatCurl('createApplication', { body: { id: 'my-app', name: 'My app' } })}
      >
        <p>
          An application holds the versions and runs of one decision model. Push yours, or start with a
          sample.
        </p>
      </EmptyState>
      <h2 className={styles.heading}>Sample apps</h2>
      {push.isError && <Notice kind="error">{describeError(push.error)}</Notice>}
      <ul className={styles.gallery}>
        {SAMPLES.map((sample) => (
          <SampleCard
            key={sample.id}
            sample={sample}
            isPushing={push.isPending && push.variables.id === sample.id}
            isDisabled={push.isPending}
            onPush={() => push.mutate(sample)}
          />
        ))}
      </ul>
    </>
  );
}

/** Pushes a sample, and opens the form of its first run with its sample input. */
function usePush() {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: pushSample,
    onSuccess: (_, { id }) =>
      navigate({
        to: '/apps/$application/new-run',
        params: { application: id },
        search: { input: SAMPLE_INPUT },
      }),
  });
}

interface SampleCardProps {
  sample: Sample;
  isPushing: boolean;
  isDisabled: boolean;
  onPush: () => void;
}

function SampleCard({ sample, isPushing, isDisabled, onPush }: SampleCardProps) {
  const canWrite = useRight('write');
  const { folder, id, name, description } = sample;
  const command = `npm run push -- sample-apps/${folder} ${id}`;
  return (
    <li className={styles.sample}>
      <h3>{name}</h3>
      <p>{description}</p>
      {canWrite && (
        <Button onPress={onPush} isDisabled={isDisabled} aria-label={`Push sample: ${name}`}>
          {isPushing ? 'Pushing …' : 'Push sample'}
        </Button>
      )}
      <p className={styles.command}>
        <code>{command}</code>
        <CopyButton text={command} label={`Copy the command for ${name}`} />
      </p>
    </li>
  );
}
