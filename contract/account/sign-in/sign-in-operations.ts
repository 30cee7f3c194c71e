/** The operations by which programs and people sign in without a token. */
import { getSingleSignOn, getSsoDomain, listOwnOrganizations, startSingleSignOn } from '../single-sign-on.ts';
import {
  approveDeviceAuthorization,
  denyDeviceAuthorization,
  getDeviceAuthorization,
  getDeviceAuthorizationStatus,
  redeemDeviceAuthorization,
  startDeviceAuthorization,
} from './device-authorizations.ts';

export const signInOperations = {
  startDeviceAuthorization,
  getDeviceAuthorizationStatus,
  redeemDeviceAuthorization,
  getDeviceAuthorization,
  approveDeviceAuthorization,
  denyDeviceAuthorization,
  getSingleSignOn,
  startSingleSignOn,
  getSsoDomain,
  listOwnOrganizations,
} as const;
