// SPDX-License-Identifier: Apache-2.0

/// The names of the stores' methods and events, of server calls and of error codes; `docs/RULES.md` must name each.
enum RuleNames {
    /// The methods of the SDKs' stores, which apps call.
    static let methods = Self.words(
        """
        login logout setSelfInfo fetchLiveList fetchLiveInfo createLive joinLive leaveLive endLive updateLiveInfo
        updateLiveMetaData queryMetaData callExperimentalAPI reset fetchAudienceList setAdministrator
        revokeAdministrator kickUserOutOfRoom disableSendMessage sendTextMessage sendCustomMessage appendLocalTip
        setMessageDisable applyForSeat cancelApplication acceptApplication rejectApplication inviteToSeat
        cancelInvitation acceptInvitation rejectInvitation disConnect setLayoutTemplate takeSeat leaveSeat
        muteMicrophone unmuteMicrophone kickUserOutOfSeat moveUserToSeat lockSeat unlockSeat openRemoteCamera
        openRemoteMicrophone closeRemoteCamera closeRemoteMicrophone requestHostConnection cancelHostConnection
        acceptHostConnection rejectHostConnection exitHostConnection getCoHostCandidates muteRemoteHostAudio
        requestBattle cancelBattleRequest acceptBattle rejectBattle exitBattle refreshUsableGifts sendGift setLanguage
        setGiftEnabled sendLike
        """)

    /// The events that the SDKs' stores publish.
    static let events = Self.words(
        """
        onAdminJoined onAudienceJoined onAudienceLeft onAudienceMessageDisabled onBattleEnded onBattleRequestAccept
        onBattleRequestCancelled onBattleRequestReceived onBattleRequestReject onBattleRequestTimeout onBattleStarted
        onCoHostRequestAccepted onCoHostRequestCancelled onCoHostRequestReceived onCoHostRequestRejected
        onCoHostRequestTimeout onCoHostUserJoined onCoHostUserLeft onConnectionUserListChanged
        onGuestApplicationCancelled onGuestApplicationNoResponse onGuestApplicationProcessedByOtherHost
        onGuestApplicationReceived onGuestApplicationResponded onHostInvitationCancelled onHostInvitationNoResponse
        onHostInvitationReceived onHostInvitationResponded onKickedOffSeat onKickedOutOfLive onLiveEnded
        onLocalCameraClosedByAdmin onLocalCameraOpenedByAdmin onLocalMicrophoneClosedByAdmin
        onLocalMicrophoneOpenedByAdmin onOwnerJoined onReceiveGift onReceiveLikesMessage onUserExitBattle
        onUserJoinBattle kickedOffline loginExpired
        """)

    /// The HTTP calls of an app's own server.
    static let serverCalls = Self.words(
        """
        create_room update_room_info destroy_room get_room_info get_room_list set_room_metadata get_room_metadata
        del_room_metadata get_admin_list modify_admin ban_member unban_member get_banned_member_list mute_member
        get_muted_member_list send_text_msg send_custom_msg get_room_statistic send_gift add_gift edit_gift del_gift
        get_gift get_gift_info_list get_gift_count gift_category gift_language gift_category_language add_robot
        del_robot get_robot get_seat_list pick_user_on_seat kick_user_off_seat lock_seat switch_seat move_user_to_seat
        create_battle get_battle_info set_battle_score
        """)

    /// The error codes; as in the rules, negative ones begin with the minus sign U+2212, not with a hyphen.
    static let codes = Self.words(
        """
        −6001 −4001 −3301 −2381 −2380 −2373 −2372 −2371 −2370 −2361 −2360 −2344 −2340 −2312 −2311 −2310 −2301 −2300
        −2200 −2108 −2107 −2105 −2104 −2103 −2102 −2101 −2100 −1110 −1108 −1107 −1104 −1103 −1100 −1005 −1004 −1003
        −1002 −1001 −1000 −4 −3 −2 −1 6017 7002 7008 7015 9508 9522 9525 10010 10017 70001 70003 70013 100001 100002
        100003 100004 100005 100006 100007 100008 100009 100010 100011 100012 100013 100015 100016 100017 100018
        100019 100020 100026 100102 100200 100201 100202 100203 100204 100205 100206 100210 100211 100251 100400
        100401 100402 100403 100404 100405 100411 100412 100413 100414 100415 100416 100418 100419 100420 100421
        100500 100501 100502 100503 100504 101011 102001 102002 102004 102008 102100 102200
        """)

    private static func words(_ text: String) -> [String] { text.split { $0.isWhitespace }.map(String.init) }
}
