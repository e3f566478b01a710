// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// The policies and webhooks in the apps file, and the errors of an apps file.
@Suite struct AppsDocumentTests {
    private let hooks = #""hooks":{"url":"http://a/","secret":"0123456789abcdef"}"#

    @Test func `a valid apps file has no errors, and an empty one has no apps`() throws {
        #expect(AppsDocument.validationErrors(in: []) == [])
        #expect(try AppsDocument(json: []).apps.isEmpty)
        let file = Array(#"{"apps":{"demo":{"keys":[],"policy":{"maxAdmins":3},\#(self.hooks)},"two":{}}}"#.utf8)
        #expect(AppsDocument.validationErrors(in: file) == [])
        let apps = try AppsDocument(json: file).apps
        #expect(apps["demo"]?.policy?.maxAdmins == 3 && apps["demo"]?.hooks != nil && apps["two"]?.policy == nil)
    }

    @Test func `only a service that sends to backends needs their addresses and secrets`() throws {
        // `sending` names the requests that a service sends to backends: none, only those before a message or gift
        // (`before` hooks), or all. The file that the service reads has hooks without address and secret.
        let file = Array(
            #"{"apps":{"demo":{"hooks":{"events":["roomCreated"]}},"quiet":{"hooks":{"events":[]}}}}"#.utf8)
        #expect(AppsDocument.validationErrors(in: file, sending: .none) == [])
        let apps = try AppsDocument(json: file).apps
        #expect(apps["demo"]?.hooks == nil && apps["demo"]?.wantsEvents == true && apps["quiet"]?.wantsEvents == false)
        #expect(AppsDocument.validationErrors(in: file, sending: .beforeHooks) == [], "no app has before hooks")
        let fileWithBeforeHook = Array(#"{"apps":{"demo":{"hooks":{"before":{"gift":"refuse"}}}}}"#.utf8)
        #expect(AppsDocument.validationErrors(in: fileWithBeforeHook, sending: .beforeHooks).count == 1)
        #expect(AppsDocument.validationErrors(in: fileWithBeforeHook, sending: .none) == [])
        // By default the service sends all requests. Then no address may be missing, not even that of `quiet`.
        let errors = AppsDocument.validationErrors(in: file)
        #expect(errors.count == 2 && errors[0].hasPrefix("correct the hooks of demo: url and secret are missing"))
    }

    @Test(
        arguments: [
            (#"{"apps":{"demo":{"keys":[],}}}"#, "give JSON of the form {\"apps\":{…}}: it is no JSON"),
            (#"{"apps":{"demo":{"keys":[{"kid":"k\ud800"}]}}}"#, "give JSON of the form {\"apps\":{…}}: it is no JSON"),
            ("{}", "give JSON of the form {\"apps\":{…}}: apps is missing"),
            ("[]", "give JSON of the form {\"apps\":{…}}: this is not an object"),
            (#"{"apps":7}"#, "give JSON of the form {\"apps\":{…}}: apps is not of the right type"),
            (
                #"{"apps":{"demo":{"policy":{"maxAdmins":-1}}}}"#,
                "correct the file: demo.policy.maxAdmins is -1; 0 to 100"
            ),
            (#"{"apps":{"demo":{"hooks":{"url":"x","secret":"y"}}}}"#, "correct the hooks of demo: url is not"),
        ])
    func `an error of an apps file says what to correct, without internal names`(json: String, validationError: String)
    {
        let validationErrors = AppsDocument.validationErrors(in: Array(json.utf8))
        #expect(validationErrors.count == 1)
        #expect(validationErrors.first?.hasPrefix(validationError) == true, "\(validationErrors)")
        for word in ["badField", "notJSON", "WireError"] { #expect(!validationErrors.joined().contains(word)) }
    }
}
