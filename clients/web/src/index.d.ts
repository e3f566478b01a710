// SPDX-License-Identifier: Apache-2.0

/** An error of a method; `code` and `codeName` are those of PROTOCOL.md, section 13. */
export class PlazaError extends Error {
  constructor(code: number, message: string, retryAfter?: number, reason?: string);
  readonly code: number;
  /** The code's name in the protocol, such as `roomFull`. */
  readonly codeName: string;
  /** After how many milliseconds a retry makes sense; undefined if it makes none. */
  readonly retryAfter: number | undefined;
  /** Why a live is closed to this client (PROTOCOL.md, section 7); undefined if the server does not tell. */
  readonly reason: string | undefined;
}

/** The codes by name. */
export const ReplyCode: Readonly<Record<string, number>>;

/** An event of a store: `type` is its name, `detail` its payload. */
export class StoreEvent<Detail = any> extends Event {
  constructor(type: string, detail: Detail);
  readonly detail: Detail;
}

// Values

export interface LiveUserInfo {
  userID: string;
  userName: string;
  avatarURL: string;
}

export type Role = 'owner' | 'admin' | 'generalUser';
export type DeviceStatus = 'on' | 'off';
export type SuspendStatus = 'none' | 'inBackground' | 'inCalling';

export interface SeatUserInfo extends LiveUserInfo {
  role: Role;
  /** The live that the user belongs to; during co-hosting it may be another one. */
  liveID: string;
  microphoneStatus: DeviceStatus;
  allowOpenMicrophone: boolean;
  cameraStatus: DeviceStatus;
  allowOpenCamera: boolean;
  userSuspendStatus: SuspendStatus;
}

/** Pixels of the canvas. */
export interface RegionInfo {
  x: number;
  y: number;
  w: number;
  h: number;
  zorder: number;
}

export interface SeatInfo {
  index: number;
  /** The live whose seat it is. */
  liveID: string;
  isLocked: boolean;
  isMicrophoneLocked: boolean;
  isCameraLocked: boolean;
  /** Who sits there; with an empty `userID` nobody does. */
  userInfo: SeatUserInfo;
  region: RegionInfo;
}

export interface LiveCanvas {
  w: number;
  h: number;
  templateID: number;
}

export interface LiveInfo {
  liveID: string;
  liveName: string;
  notice: string;
  isMessageDisable: boolean;
  isPublicVisible: boolean;
  keepOwnerOnSeat: boolean;
  maxSeatCount: number;
  seatMode: 'free' | 'apply';
  /** 1 to 199 are voice lives, 200 to 999 video lives. */
  seatTemplate: number;
  coverURL: string;
  backgroundURL: string;
  /** At most 3 numbers of the app's own. */
  categoryList: readonly number[];
  activityStatus: number;
  isGiftEnabled: boolean;
  metaData: Readonly<Record<string, string>>;
  liveOwner: LiveUserInfo;
  /** Seconds since 1970. */
  createTime: number;
  /** The ids of the admins. */
  admins: readonly string[];
  /** 1 scheduled, 2 running, 3 the owner is away. */
  status: number;
  /** 0: as many viewers as the app allows. */
  maxMemberCount: number;
  /** Entries so far, repeat visits counted. */
  totalViewerCount: number;
  /** Viewers now, when this was read. */
  audienceCount: number;
  /** Whether this is no live: the client is in none. */
  isEmpty: boolean;
}

/** What a live may be created with, or changed to. */
export type LiveChanges = Partial<LiveInfo>;

export interface LiveStatistics {
  totalViewers: number;
  totalGiftsSent: number;
  totalGiftCoins: number;
  totalUniqueGiftSenders: number;
  totalLikesReceived: number;
  totalMessageCount: number;
  /** Milliseconds. */
  liveDuration: number;
}

export interface Barrage {
  liveID: string;
  sender: LiveUserInfo;
  /** The message's number in the feed, unique and rising; of a local tip the number of the message before it. */
  sequence: number;
  /** The server's time in seconds since 1970, with a fraction. */
  timestampInSecond: number;
  messageType: 'text' | 'custom';
  textContent: string;
  extensionInfo: Readonly<Record<string, string>>;
  businessID: string;
  data: string;
  /** Whether this client alone shows it. */
  isLocal: boolean;
}

export interface BattleConfig {
  /** Seconds; 0: the app's longest. */
  duration: number;
  needResponse: boolean;
  extensionInfo: string;
}

export interface BattleInfo {
  battleID: string;
  config: BattleConfig;
  /** Seconds since 1970; 0 before the start. */
  startTime: number;
  /** Seconds since 1970. Clients count down to it by `LivePlaza.serverTime`. */
  endTime: number;
}

export interface Gift {
  giftID: string;
  name: string;
  desc: string;
  iconURL: string;
  resourceURL: string;
  level: number;
  coins: number;
  extensionInfo: string;
}

export interface GiftCategory {
  categoryID: string;
  name: string;
  desc: string;
  extensionInfo: string;
  giftList: readonly Gift[];
}

export interface LiveSummaryData {
  /** Milliseconds. */
  totalDuration: number;
  totalViewers: number;
  totalGiftsSent: number;
  totalGiftUniqueSenders: number;
  totalGiftCoins: number;
  totalLikesReceived: number;
  totalMessageSent: number;
}

export interface UserProfile {
  userID: string;
  nickname: string;
  avatarURL: string;
}

export type LiveEndedReason = 'endedByHost' | 'endedByServer';
export type LiveKickedOutReason =
  | 'byAdmin' | 'byServer' | 'byLoggedOnOtherDevice' | 'forNetworkDisconnected' | 'forJoinRoomStatusInvalidDuringOffline'
  | 'forCountOfJoinedRoomsExceedLimit';
export type NoResponseReason = 'timeout' | 'alreadySeated';
export type BattleEndedReason = 'timeOver' | 'allMemberExit';
export type MoveSeatPolicy = 'abortWhenOccupied' | 'forceReplace' | 'swapPosition';

// States

export interface LoginState {
  readonly loginStatus: 'logined' | 'unlogin';
  readonly loginUserInfo: UserProfile | null;
  readonly connectionStatus: 'disconnected' | 'connecting' | 'connected' | 'reconnecting';
}

export interface LiveListState {
  readonly liveList: readonly LiveInfo[];
  /** For the next page; empty at the end. */
  readonly liveListCursor: string;
  /** The live that the client is in; `isEmpty` if it is in none. */
  readonly currentLive: LiveInfo;
}

export interface LiveAudienceState {
  /** At most 200 viewers, without the owner. */
  readonly audienceList: readonly LiveUserInfo[];
  /** All viewers, without the owner. */
  readonly audienceCount: number;
  /** Whether the server cannot confirm the count just now. */
  readonly isAudienceCountStale: boolean;
  readonly adminList: readonly LiveUserInfo[];
  /** Who may not write, this user among them: owner and admins read at most 1,000, viewers at most 100. */
  readonly messageBannedUserList: readonly LiveUserInfo[];
}

export interface BarrageState {
  /** At most 1,000 messages, oldest first. */
  readonly messageList: readonly Barrage[];
  /** Whether a message of this user would be taken. */
  readonly allowSendMessage: boolean;
}

export interface LiveSeatState {
  /** All seats, empty ones too; while connected those of the other lives follow. */
  readonly seatList: readonly SeatInfo[];
  readonly canvas: LiveCanvas;
  /** Level 1 to 100 by user; who is not named is silent. */
  readonly speakingUsers: Readonly<Record<string, number>>;
  /** Always empty: figures of the media layer. */
  readonly avStatistics: readonly never[];
}

export interface CoGuestState {
  /** Who sits in this live. */
  readonly connected: readonly SeatUserInfo[];
  readonly invitees: readonly LiveUserInfo[];
  readonly applicants: readonly LiveUserInfo[];
  /** Viewers who could be invited. */
  readonly candidates: readonly LiveUserInfo[];
}

export interface CoHostState {
  readonly coHostStatus: 'connected' | 'disconnected';
  /** The hosts of the connection, one's own among them. */
  readonly connected: readonly SeatUserInfo[];
  readonly invitees: readonly SeatUserInfo[];
  /** The host who asks to connect. */
  readonly applicant: SeatUserInfo | null;
  readonly candidates: readonly SeatUserInfo[];
  readonly candidatesCursor: string;
  /** The lives whose sound this live leaves out. */
  readonly mutedLives: readonly string[];
}

export interface BattleState {
  readonly currentBattleInfo: BattleInfo | null;
  readonly battleUsers: readonly SeatUserInfo[];
  /** Score by host; kept after the end until the next battle. */
  readonly battleScore: Readonly<Record<string, number>>;
}

export interface GiftState {
  readonly usableGifts: readonly GiftCategory[];
  readonly isGiftEnabled: boolean;
}

export interface LikeState {
  readonly totalLikeCount: number;
}

export interface LiveSummaryState {
  readonly summaryData: LiveSummaryData;
}

// Events: the payloads by name

export interface LoginEvents {
  /** The session continues elsewhere, or the user signed in on another device. */
  kickedOffline: {};
  /** The token has ended or is rejected, and no newer one came. */
  loginExpired: {};
  /** The client does not reconnect by itself. */
  connectionEnded: { code: number; error: PlazaError };
}

export interface LiveListEvents {
  onLiveEnded: { liveID: string; reason: LiveEndedReason; message: string; statistics?: LiveStatistics };
  onKickedOutOfLive: { liveID: string; reason: LiveKickedOutReason; message: string };
}

export interface LiveAudienceEvents {
  onAudienceJoined: { audience: LiveUserInfo };
  onAudienceLeft: { audience: LiveUserInfo };
  onAudienceMessageDisabled: { audience: LiveUserInfo; isDisable: boolean };
}

export interface LiveSeatEvents {
  onLocalMicrophoneClosedByAdmin: {};
  onLocalMicrophoneOpenedByAdmin: { policy: 'unlockOnly' };
  onLocalCameraClosedByAdmin: {};
  onLocalCameraOpenedByAdmin: { policy: 'unlockOnly' };
}

/** Of a request, `expiresAt` is when it ends: seconds since 1970, to compare with `LivePlaza.serverTime`. */
export interface CoGuestEvents {
  onGuestApplicationReceived: { guestUser: LiveUserInfo; seatIndex: number; expiresAt: number; extraInfo: string };
  onGuestApplicationCancelled: { guestUser: LiveUserInfo };
  onGuestApplicationProcessedByOtherHost: { guestUser: LiveUserInfo; hostUser: LiveUserInfo; isAccept: boolean };
  onHostInvitationResponded: { isAccept: boolean; guestUser: LiveUserInfo };
  onHostInvitationNoResponse: { guestUser: LiveUserInfo; reason: NoResponseReason };
  onHostInvitationReceived: { hostUser: LiveUserInfo; seatIndex: number; expiresAt: number; extraInfo: string };
  onHostInvitationCancelled: { hostUser: LiveUserInfo; isTimeout: boolean };
  onGuestApplicationResponded: { isAccept: boolean; hostUser: LiveUserInfo };
  onGuestApplicationNoResponse: { reason: NoResponseReason };
  onKickedOffSeat: { seatIndex: number; hostUser: LiveUserInfo };
}

/** `expiresAt`: seconds since 1970. */
export interface CoHostEvents {
  onCoHostRequestReceived: { inviter: SeatUserInfo; extensionInfo: string; expiresAt: number };
  onCoHostRequestCancelled: { inviter: SeatUserInfo; invitee: SeatUserInfo };
  onCoHostRequestAccepted: { invitee: SeatUserInfo };
  onCoHostRequestRejected: { invitee: SeatUserInfo };
  onCoHostRequestTimeout: { inviter: SeatUserInfo; invitee: SeatUserInfo };
  onCoHostUserJoined: { userInfo: SeatUserInfo };
  onCoHostUserLeft: { userInfo: SeatUserInfo };
}

interface BattleRequest {
  battleID: string;
  inviter: SeatUserInfo;
  invitee: SeatUserInfo;
}

/** `expiresAt`: seconds since 1970. */
export interface BattleEvents {
  onBattleRequestReceived: BattleRequest & { durationSeconds: number; expiresAt: number; extensionInfo: string };
  onBattleRequestCancelled: BattleRequest;
  onBattleRequestTimeout: BattleRequest;
  onBattleRequestAccept: BattleRequest;
  onBattleRequestReject: BattleRequest;
  onBattleStarted: { battleInfo: BattleInfo; inviter: SeatUserInfo; invitees: readonly SeatUserInfo[] };
  onBattleEnded: { battleInfo: BattleInfo; reason: BattleEndedReason };
  onUserJoinBattle: { battleID: string; battleUser: SeatUserInfo };
  onUserExitBattle: { battleID: string; battleUser: SeatUserInfo };
  /** Nobody accepted. */
  onBattleNotStarted: { battleID: string };
}

export interface GiftEvents {
  onReceiveGift: { liveID: string; gift: Gift; count: number; sender: LiveUserInfo; receivers: readonly string[] };
}

export interface LikeEvents {
  onReceiveLikesMessage: { liveID: string; totalLikesReceived: number; sender: LiveUserInfo; count: number };
}

// Stores

/** A state that can be observed, and events. Every change of the state is a new object. */
export class Store<State, Events = {}> extends EventTarget {
  readonly state: State;
  /** Calls a function with the state, now and after each change; the result ends the subscription. */
  subscribe(listener: (state: State) => void): () => void;
  /** Calls a function with a part of the state, now and whenever that part changes. */
  select<Part>(selector: (state: State) => Part, listener: (part: Part) => void): () => void;
  addEventListener<Name extends keyof Events & string>(
    type: Name, listener: (event: StoreEvent<Events[Name]>) => void, options?: AddEventListenerOptions | boolean): void;
  addEventListener(
    type: string, listener: EventListenerOrEventListenerObject | null, options?: AddEventListenerOptions | boolean): void;
  removeEventListener<Name extends keyof Events & string>(
    type: Name, listener: (event: StoreEvent<Events[Name]>) => void, options?: EventListenerOptions | boolean): void;
  removeEventListener(
    type: string, listener: EventListenerOrEventListenerObject | null, options?: EventListenerOptions | boolean): void;
}

/** A store of one live. */
export class LiveStore<State, Events = {}> extends Store<State, Events> {
  readonly liveID: string;
}

export class LoginStore extends Store<LoginState, LoginEvents> {
  static readonly shared: LoginStore;
  login(options?: LoginOptions): Promise<UserProfile>;
  logout(): Promise<void>;
  setSelfInfo(profile: { nickname?: string; avatarURL?: string }): Promise<void>;
}

export class LiveListStore extends Store<LiveListState, LiveListEvents> {
  static readonly shared: LiveListStore;
  fetchLiveList(page?: {
    cursor?: string; count?: number; category?: number; order?: 'descending' | 'ascending';
  }): Promise<void>;
  fetchLiveInfo(live: { liveID: string }): Promise<LiveInfo>;
  createLive(info: LiveChanges & { liveID: string }): Promise<LiveInfo>;
  joinLive(live: { liveID: string }): Promise<LiveInfo>;
  leaveLive(): Promise<void>;
  endLive(): Promise<LiveStatistics>;
  updateLiveInfo(info: LiveChanges, options?: { modifyFlag?: number }): Promise<void>;
  updateLiveMetaData(metaData: Record<string, string>): Promise<void>;
  deleteLiveMetaData(which: { keys: readonly string[] }): Promise<void>;
  queryMetaData(which?: { keys?: readonly string[] }): Promise<Record<string, string>>;
  reset(): void;
}

/** The bits of `updateLiveInfo`. */
export const ModifyFlag: Readonly<Record<
  'none' | 'liveName' | 'notice' | 'isMessageDisable' | 'isPublicVisible' | 'seatMode' | 'coverURL' | 'backgroundURL'
  | 'categoryList' | 'activityStatus' | 'seatTemplate' | 'seatLayoutTemplateID', number>>;

export class LiveAudienceStore extends LiveStore<LiveAudienceState, LiveAudienceEvents> {
  static create(liveID: string, plaza?: LivePlaza): LiveAudienceStore;
  fetchAudienceList(): Promise<void>;
  setAdministrator(target: { userID: string }): Promise<void>;
  revokeAdministrator(target: { userID: string }): Promise<void>;
  kickUserOutOfRoom(target: { userID: string }): Promise<void>;
  disableSendMessage(target: { userID: string; isDisable: boolean }): Promise<void>;
}

export class BarrageStore extends LiveStore<BarrageState> {
  static create(liveID: string, plaza?: LivePlaza): BarrageStore;
  sendTextMessage(message: { text: string; extensionInfo?: Record<string, string> }): Promise<void>;
  sendCustomMessage(message: { businessID: string; data: string }): Promise<void>;
  appendLocalTip(message: Partial<Barrage>): void;
}

export class LiveSeatStore extends LiveStore<LiveSeatState, LiveSeatEvents> {
  static create(liveID: string, plaza?: LivePlaza): LiveSeatStore;
  takeSeat(seat: { seatIndex: number }): Promise<{ index: number | undefined }>;
  leaveSeat(): Promise<void>;
  muteMicrophone(): Promise<void>;
  unmuteMicrophone(): Promise<void>;
  reportDevice(device: { microphone?: boolean; camera?: boolean; suspend?: SuspendStatus }): Promise<void>;
  reportCamera(camera: { isOn: boolean }): Promise<void>;
  reportSuspension(status: SuspendStatus): Promise<void>;
  reportSpeaking(speech: { level: number }): Promise<void>;
  kickUserOutOfSeat(target: { userID: string }): Promise<void>;
  moveUserToSeat(move: { userID: string; targetIndex: number; policy?: MoveSeatPolicy }): Promise<void>;
  lockSeat(seat: { seatIndex: number }): Promise<void>;
  unlockSeat(seat: { seatIndex: number }): Promise<void>;
  closeRemoteCamera(target: { userID: string }): Promise<void>;
  openRemoteCamera(target: { userID: string; policy?: 'unlockOnly' }): Promise<void>;
  closeRemoteMicrophone(target: { userID: string }): Promise<void>;
  openRemoteMicrophone(target: { userID: string; policy?: 'unlockOnly' }): Promise<void>;
}

export class CoGuestStore extends LiveStore<CoGuestState, CoGuestEvents> {
  static create(liveID: string, plaza?: LivePlaza): CoGuestStore;
  applyForSeat(request?: { seatIndex?: number; timeout?: number; extraInfo?: string }): Promise<void>;
  cancelApplication(): Promise<void>;
  acceptApplication(applicant: { userID: string }): Promise<void>;
  rejectApplication(applicant: { userID: string }): Promise<void>;
  inviteToSeat(invitation: { userID: string; seatIndex?: number; timeout?: number; extraInfo?: string }): Promise<void>;
  cancelInvitation(guest: { inviteeID: string }): Promise<void>;
  acceptInvitation(host: { inviterID: string }): Promise<void>;
  rejectInvitation(host: { inviterID: string }): Promise<void>;
  disConnect(): Promise<void>;
}

export const CoHostLayoutTemplate: Readonly<Record<
  'hostVoiceConnection' | 'hostLandscape' | 'hostDynamicGrid' | 'hostDynamic1v6', number>>;

export class CoHostStore extends LiveStore<CoHostState, CoHostEvents> {
  static create(liveID: string, plaza?: LivePlaza): CoHostStore;
  requestHostConnection(request: {
    targetHost: string; layoutTemplate?: number; timeout?: number; extraInfo?: string;
  }): Promise<void>;
  cancelHostConnection(request: { toHostLiveID: string }): Promise<void>;
  acceptHostConnection(request: { fromHostLiveID: string }): Promise<void>;
  rejectHostConnection(request: { fromHostLiveID: string }): Promise<void>;
  exitHostConnection(): Promise<void>;
  getCoHostCandidates(page?: { cursor?: string }): Promise<void>;
  muteRemoteHostAudio(other: { liveID: string; isMuted: boolean }): Promise<void>;
}

export class BattleStore extends LiveStore<BattleState, BattleEvents> {
  static create(liveID: string, plaza?: LivePlaza): BattleStore;
  requestBattle(request: { config?: Partial<BattleConfig>; userIDList: readonly string[]; timeout?: number }): Promise<{
    battleInfo: BattleInfo; resultMap: Record<string, number>;
  }>;
  cancelBattleRequest(request: { battleId: string; userIdList: readonly string[] }): Promise<void>;
  acceptBattle(battle: { battleID: string }): Promise<void>;
  rejectBattle(battle: { battleID: string }): Promise<void>;
  exitBattle(battle: { battleID: string }): Promise<void>;
}

export class GiftStore extends LiveStore<GiftState, GiftEvents> {
  static create(liveID: string, plaza?: LivePlaza): GiftStore;
  refreshUsableGifts(): Promise<void>;
  sendGift(order: { giftID: string; count?: number; receivers?: readonly string[] }): Promise<void>;
  setLanguage(language: string): void;
  setGiftEnabled(change: { isEnabled: boolean }): Promise<void>;
}

export class LikeStore extends LiveStore<LikeState, LikeEvents> {
  static create(liveID: string, plaza?: LivePlaza): LikeStore;
  sendLike(taps?: { count?: number }): Promise<void>;
}

export class LiveSummaryStore extends LiveStore<LiveSummaryState> {
  static create(liveID: string, plaza?: LivePlaza): LiveSummaryStore;
}

/** The stores of one live. */
export interface LiveStores {
  readonly audience: LiveAudienceStore;
  readonly barrage: BarrageStore;
  readonly seat: LiveSeatStore;
  readonly coGuest: CoGuestStore;
  readonly coHost: CoHostStore;
  readonly battle: BattleStore;
  readonly gift: GiftStore;
  readonly like: LikeStore;
  readonly summary: LiveSummaryStore;
}

// The instance

export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Milliseconds since 1970. */
  wall(): number;
  setTimeout(action: () => void, delay: number): unknown;
  clearTimeout(timer: any): void;
}

export interface PlazaOptions {
  /** The gateway's address, such as `wss://live.example.org/v1`. */
  url?: string;
  /** Several gateways: a login begins at a random one, each reconnect tries the next one. */
  urls?: readonly string[];
  /** A signed token. */
  token?: string;
  /** Gives a token, for the first login without `token`, and before the present one ends. */
  tokenProvider?: () => Promise<string> | string;
  /** How others see the user, unless the token says it. */
  nickname?: string;
  avatarURL?: string;
  /**
   * The session's name: 1 to 40 letters, digits, `-`, `_`. A new one by default, which is right after a page is
   * loaded. Name one only for a device that continues its place; then this machine's clock must not go back. */
  session?: string;
  /** How long a call may take, in milliseconds (15,000). */
  callTimeout?: number;
  /** The class of WebSockets, where the runtime has none. */
  WebSocket?: any;
  /** What has the page's events; `globalThis` by default. */
  page?: any;
  /** For tests; only when an instance is made. */
  clock?: Clock;
  /** Gives numbers from 0 to below 1; only when an instance is made. */
  random?: () => number;
}

export interface LoginOptions extends Omit<PlazaOptions, 'clock' | 'random'> {
  /** How long the login may take, in milliseconds (15,000). */
  timeout?: number;
}

/** One client: a login, the list of lives, and the stores of lives. */
export class LivePlaza extends EventTarget {
  constructor(options?: PlazaOptions);
  /** The default instance, to which `LoginStore.shared` and `BarrageStore.create(liveID)` belong. */
  static readonly shared: LivePlaza;
  /** Sets the options of the default instance, before its login. */
  static configure(options: PlazaOptions): LivePlaza;
  /** The server's time, by which an app shows when a battle or a request ends; before the first login the machine's. */
  readonly serverTime: Date;
  readonly loginStore: LoginStore;
  readonly liveListStore: LiveListStore;
  /**
   * The stores of a live; they show the defaults until the client is in it. The same id gives the same stores, for as
   * long as
   * the client is in the live, or the app holds one of them, or asked for them among the last 100 lives. */
  live(liveID: string): LiveStores;
  /** Calls a method of PROTOCOL.md, section 5, and gives the body of its result. */
  call(method: string, params?: object, live?: string): Promise<{ [key: string]: unknown }>;
}
