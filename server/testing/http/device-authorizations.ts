/** Device authorizations for tests that call every operation. */
import { DEVICE_CODE_HEADER } from '@switchyard/contract/account/sign-in/device-authorizations.ts';
import type { OperationId } from '@switchyard/contract/operations.ts';
import type { TestServer } from '../servers/test-server.ts';

/** The codes of the newest authorization. Until there is one, no program has them. */
export class DeviceRequests {
  #codes = { device_code: 'any', user_code: 'any' };

  /** The headers of a request for the status. */
  get headers(): Record<string, string> {
    return { [DEVICE_CODE_HEADER]: this.#codes.device_code };
  }

  /** The query of a request for the program that asks. */
  get query(): string {
    return `?user_code=${this.#codes.user_code}`;
  }

  /** Starts an authorization and stores the bodies of its operations. It is approved for the operation that redeems it. */
  async prepare(
    { client }: Pick<TestServer, 'client'>,
    id: string,
    bodies: Partial<Record<OperationId, unknown>>,
  ): Promise<void> {
    this.#codes = (await client.call('startDeviceAuthorization', { body: { client_name: 'Any name' } })).body;
    const { device_code, user_code } = this.#codes;
    bodies.approveDeviceAuthorization = { user_code };
    bodies.denyDeviceAuthorization = { user_code };
    bodies.redeemDeviceAuthorization = { device_code };
    if (id === 'redeemDeviceAuthorization')
      await client.call('approveDeviceAuthorization', { body: { user_code } });
  }
}
