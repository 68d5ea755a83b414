// Judges what the ledger's library makes by libraries that others wrote. Reads one question a line as JSON, and answers each
// with a line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"filippo.io/torchwood"
	"github.com/transparency-dev/formats/log"
	fnote "github.com/transparency-dev/formats/note"
	tproof "github.com/transparency-dev/formats/proof"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A question: a .tlog-proof, the policy that it is judged by, and the key of its ledger.
type question struct {
	Proof  []byte `json:"proof"`
	Policy []byte `json:"policy"`
	Key    string `json:"key"`
}

// What each judge says; empty where it takes the proof.
type answer struct {
	Torchwood string `json:"torchwood"`
	Formats   string `json:"formats"`
	Sumdb     string `json:"sumdb"`
}

// entryOf is the entry that the extra line names.
func entryOf(extra []byte) ([]byte, error) {
	var document struct {
		Entry []byte `json:"entry"`
	}
	err := json.Unmarshal(extra, &document)
	return document.Entry, err
}

// byTorchwood asks torchwood for all of it: form, signatures, quorum, inclusion.
func byTorchwood(q question) error {
	policy, err := torchwood.ParsePolicy(q.Policy)
	if err != nil {
		return err
	}
	extra, err := torchwood.ProofExtraData(q.Proof)
	if err != nil {
		return err
	}
	entry, err := entryOf(extra)
	if err != nil {
		return err
	}
	return torchwood.VerifyProof(policy, tlog.RecordHash(entry), q.Proof)
}

// read takes the proof apart by formats/proof.
func read(q question) (p tproof.TLogProof, entry []byte, err error) {
	if err = p.Unmarshal(q.Proof); err == nil {
		entry, err = entryOf(p.ExtraData)
	}
	return
}

// byFormats asks the libraries of transparency-dev: form, signature of the ledger, inclusion.
func byFormats(q question) error {
	p, entry, err := read(q)
	if err != nil {
		return err
	}
	verifier, err := fnote.NewVerifier(q.Key)
	if err != nil {
		return err
	}
	head, _, _, err := log.ParseCheckpoint(p.Checkpoint, verifier.Name(), verifier)
	if err != nil {
		return err
	}
	var hashes [][]byte
	for _, hash := range p.Hashes {
		hashes = append(hashes, hash[:])
	}
	leaf := rfc6962.DefaultHasher.HashLeaf(entry)
	return proof.VerifyInclusion(rfc6962.DefaultHasher, p.Index, head.Size, leaf, hashes, head.Hash)
}

// bySumdb asks the libraries of Go's checksum database: signature of the ledger, inclusion.
func bySumdb(q question) error {
	p, entry, err := read(q)
	if err != nil {
		return err
	}
	verifier, err := note.NewVerifier(q.Key)
	if err != nil {
		return err
	}
	signed, err := note.Open(p.Checkpoint, note.VerifierList(verifier))
	if err != nil {
		return err
	}
	head, err := torchwood.ParseCheckpoint(signed.Text)
	if err != nil {
		return err
	}
	if head.Origin != verifier.Name() {
		return fmt.Errorf("of another ledger")
	}
	var hashes tlog.RecordProof
	for _, hash := range p.Hashes {
		hashes = append(hashes, hash)
	}
	return tlog.CheckRecord(hashes, head.N, head.Hash, int64(p.Index), tlog.RecordHash(entry))
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for decoder := json.NewDecoder(in); ; {
		var q question
		if err := decoder.Decode(&q); err != nil {
			return
		}
		out.Encode(answer{said(byTorchwood(q)), said(byFormats(q)), said(bySumdb(q))})
	}
}
