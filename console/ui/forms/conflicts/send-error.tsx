import { ApiError } from '@switchyard/contract/client.ts';
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { describeError } from '../../../client/client.ts';
import { Button } from '../../button.tsx';
import { Notice } from '../../notice.tsx';
import { UploadError } from '../../upload/upload-error.tsx';
import type { FieldChange } from './merge-drafts.ts';
import styles from './send-error.module.css';

/** The request that a form sends. */
type Sending = Pick<UseMutationResult<unknown, Error, void>, 'error' | 'isIdle' | 'reset'>;

interface SendErrorProps {
  sending: Sending;
  /** Reads the present state of a resource into the form; absent for a form that changes none. */
  onLoad?: (() => Promise<FieldChange[]>) | undefined;
}

/**
 * The error of a form. When somebody else has changed the resource, it says who, and loads the present state into the form,
 * which keeps what the person has typed.
 */
export function SendError({ sending, onLoad }: SendErrorProps) {
  const loading = useMutation({
    mutationFn: async (load: () => Promise<FieldChange[]>) => {
      const changes = await load();
      sending.reset();
      return changes;
    },
  });
  const { error } = sending;
  const isConflict = error instanceof ApiError && error.status === 409;
  return (
    <>
      {error && <UploadError error={error} />}
      {isConflict && onLoad && (
        <div>
          <Button onPress={() => loading.mutate(onLoad)} isDisabled={loading.isPending}>
            Load the present state
          </Button>
        </div>
      )}
      {loading.isError && <Notice kind="error">{describeError(loading.error)}</Notice>}
      {sending.isIdle && loading.isSuccess && <LoadedState changes={loading.data} />}
    </>
  );
}

function LoadedState({ changes }: { changes: readonly FieldChange[] }) {
  if (changes.length === 0)
    return (
      <Notice kind="info">
        The present state is loaded. Nothing shown here has changed; repeat your change to make it.
      </Notice>
    );
  return (
    <Notice kind="info">
      The present state is loaded, and what you have typed is kept. Somebody else has changed:
      <ul className={styles.changes}>
        {changes.map(({ label, before, after, isRetained }) => (
          <li key={label}>
            {label}: <bdi>{before}</bdi> → <bdi>{after}</bdi>
            {isRetained && '. Your value is kept, and saving replaces theirs.'}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
