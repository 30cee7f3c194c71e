import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { applicationQuery, instancesQuery } from '../../../client/applications.ts';
import { client } from '../../../client/client.ts';
import { listItems } from '../../../client/list-items.ts';
import { queryClient } from '../../../client/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { SendError } from '../../../ui/forms/conflicts/send-error.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { useSetDefault } from '../../../ui/resources/use-set-default.ts';
import { useRight } from '../../../ui/use-right.ts';
import type { Sides } from '../sides.ts';
import { type Promotion, planPromotion } from './plan-promotion.ts';
import styles from './promotion.module.css';

interface PromotionProps {
  application: string;
  sides: Sides;
}

type Change = Exclude<Promotion, { kind: 'none' }>;

function usePromotion({ application, sides }: PromotionProps): Promotion | null {
  const { data } = useQuery(applicationQuery(application));
  const instances = useQuery(instancesQuery(application));
  if (!data || !instances.data) return null;
  return planPromotion(sides, data, listItems(instances.data));
}

/** What the decision for the candidate changes. */
export function PromotionText(props: PromotionProps) {
  const promotion = usePromotion(props);
  if (!promotion) return null;
  return (
    <section>
      <h2>If you decide for it</h2>
      <Effect promotion={promotion} />
      {isUncompared(promotion, props.sides) && (
        <Notice kind="warning">This experiment did not compare it with {promotion.before}.</Notice>
      )}
    </section>
  );
}

/** Returns true if the default that the candidate would replace is not the control of the experiment. */
function isUncompared(promotion: Promotion, { control }: Sides): promotion is Change & { kind: 'instance' } {
  return promotion.kind === 'instance' && promotion.before !== (control.instance_id || 'latest');
}

function Effect({ promotion }: { promotion: Promotion }) {
  if (promotion.kind === 'none') return <p>{promotion.reason}</p>;
  const { id, before, version } = promotion;
  if (promotion.kind === 'instance')
    return (
      <>
        <p>
          Runs that name no instance go to <b>{id}</b>
          {version !== '' && <> ({version})</>} instead of <b>{before}</b>, from the next run on. Runs that
          name their instance go where they went. The way back is “Set as default” in the list of instances.
        </p>
        {promotion.tested !== undefined && (
          <Notice kind="warning">
            The experiment ran it with {promotion.tested}; now it has {version}.
          </Notice>
        )}
      </>
    );
  const options = Object.entries(promotion.options).map(([name, value]) => `${name} = ${value}`);
  return (
    <p>
      Instance <b>{id}</b>, the default, runs <b>{version}</b>
      {version !== before && <> instead of {before}</>}
      {options.length > 0 && (
        <>
          {' '}
          with <bdi>{options.join(', ')}</bdi>
        </>
      )}{' '}
      from its next run on, for all who call it. Runs that exist end with the version with which they were
      created.
    </p>
  );
}

interface SetDefaultProps extends PromotionProps {
  /** Name of the candidate on the button; absent where there is only one. */
  name?: string | undefined;
  kind: 'primary' | 'plain';
}

/** The button that makes the candidate the default, after a dialog that says what it changes. */
export function SetDefault({ name, kind, ...props }: SetDefaultProps) {
  const promotion = usePromotion(props);
  const mayChange = useRight('write');
  const [isOpen, setOpen] = useState(false);
  if (!mayChange || !promotion || promotion.kind === 'none') return null;
  return (
    <>
      <Button kind={isUncompared(promotion, props.sides) ? 'plain' : kind} onPress={() => setOpen(true)}>
        {name === undefined ? (
          'Set candidate as default'
        ) : (
          <span className={styles.label}>
            Set <bdi className={styles.name}>{name}</bdi> as default
          </span>
        )}
      </Button>
      {isOpen && (
        <Dialog title={`Set ${name ?? 'the candidate'} as default?`} onClose={() => setOpen(false)}>
          <PromotionForm
            application={props.application}
            promotion={promotion}
            onClose={() => setOpen(false)}
          />
        </Dialog>
      )}
    </>
  );
}

interface PromotionFormProps {
  application: string;
  promotion: Change;
  onClose: () => void;
}

function PromotionForm({ application, promotion, onClose }: PromotionFormProps) {
  const setting = useSetDefault(application);
  const updating = useMutation({
    mutationFn: ({ id, version, options, instance }: Extract<Change, { kind: 'version' }>) =>
      client.call('updateInstance', {
        params: { application_id: application, instance_id: id },
        body: {
          version_id: version,
          // A configuration replaces the previous one.
          configuration: {
            ...instance.configuration,
            options: { ...instance.configuration.options, ...options },
          },
          expected_updated_at: instance.updated_at,
        },
      }),
    onSuccess: () => queryClient.invalidateQueries(),
  });
  const isPending = setting.sending.isPending || updating.isPending;
  const send = () =>
    promotion.kind === 'instance'
      ? setting.sending.mutate(promotion.id, { onSuccess: onClose })
      : updating.mutate(promotion, { onSuccess: onClose });
  return (
    <div className={styles.form}>
      <Effect promotion={promotion} />
      <SendError
        sending={promotion.kind === 'instance' ? setting.sending : updating}
        onLoad={promotion.kind === 'instance' ? setting.load : undefined}
      />
      <div className={styles.actions}>
        <Button onPress={onClose}>Keep the present default</Button>
        <Button kind="primary" onPress={send} isDisabled={isPending}>
          Set as default
        </Button>
      </div>
    </div>
  );
}
