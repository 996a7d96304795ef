package dev.millrace.knowledge.ingest;

import dev.millrace.knowledge.core.ParsedDocument;
import dev.millrace.knowledge.core.Section;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.apache.poi.ooxml.POIXMLDocument;
import org.apache.poi.openxml4j.exceptions.OpenXML4JException;
import org.apache.poi.openxml4j.opc.OPCPackage;
import org.apache.poi.openxml4j.opc.PackageRelationshipTypes;
import org.apache.poi.openxml4j.util.ZipSecureFile;
import org.apache.poi.ss.usermodel.Cell;
import org.apache.poi.ss.usermodel.DataFormatter;
import org.apache.poi.ss.usermodel.Row;
import org.apache.poi.ss.usermodel.Sheet;
import org.apache.poi.xslf.usermodel.XMLSlideShow;
import org.apache.poi.xslf.usermodel.XSLFShape;
import org.apache.poi.xslf.usermodel.XSLFSlide;
import org.apache.poi.xslf.usermodel.XSLFTable;
import org.apache.poi.xslf.usermodel.XSLFTextShape;
import org.apache.poi.xssf.usermodel.XSSFWorkbook;
import org.apache.poi.xwpf.usermodel.IBodyElement;
import org.apache.poi.xwpf.usermodel.XWPFDocument;
import org.apache.poi.xwpf.usermodel.XWPFParagraph;
import org.apache.poi.xwpf.usermodel.XWPFTable;
import org.apache.poi.xwpf.usermodel.XWPFTableRow;
import org.jspecify.annotations.Nullable;

/**
 * Documents, sheets and slides of Office (.docx, .xlsx, .pptx) as sections: by headings, sheets and slides. A file that
 * unpacks to far more than it is is refused before it does.
 */
final class OfficeParser {

    private static final Pattern HEADING = Pattern.compile("(?i)heading ?([1-6])|(title)");
    private static final int MAX_LEVEL = 6;
    /** Of the file, unpacked. */
    static final long MAX_UNPACKED_BYTES = 64_000_000;
    /** Of those, what has to be understood, which takes many times as much memory. */
    static final long MAX_XML_BYTES = 32_000_000;

    private final TextBudget budget;
    private final List<Section> sections = new ArrayList<>();
    private final List<Section.Block> blocks = new ArrayList<>();
    private List<String> path = List.of();

    static {
        // how much there is has been looked at before
        ZipSecureFile.setMinInflateRatio(0);
        ZipSecureFile.setMaxEntrySize(MAX_UNPACKED_BYTES);
        ZipSecureFile.setMaxTextSize(MAX_XML_BYTES);
    }

    private OfficeParser(TextBudget budget) {
        this.budget = budget;
    }

    /** Whether a document begins as a package of files. */
    static boolean isPackage(byte[] bytes) {
        return bytes.length > 4 && bytes[0] == 'P' && bytes[1] == 'K' && bytes[2] == 3 && bytes[3] == 4;
    }

    static ParsedDocument parse(byte[] bytes, TextBudget budget) throws IngestException, IOException {
        requireModest(bytes, budget);
        OfficeParser parser = new OfficeParser(budget);
        try (OPCPackage opened = OPCPackage.open(new ByteArrayInputStream(bytes))) {
            String type = mainType(opened);
            if (type.contains("wordprocessingml")) {
                return parser.text(new XWPFDocument(opened));
            }
            if (type.contains("spreadsheetml")) {
                return parser.sheets(new XSSFWorkbook(opened));
            }
            if (type.contains("presentationml")) {
                return parser.slides(new XMLSlideShow(opened));
            }
            throw unsupported();
        } catch (OpenXML4JException e) {
            throw unsupported();
        }
    }

    /** Unpacks it once without keeping anything: what reads it for good holds all of it in memory. */
    private static void requireModest(byte[] bytes, TextBudget budget) throws IngestException, IOException {
        byte[] piece = new byte[8_192];
        long all = 0;
        long xml = 0;
        try (ZipInputStream parts = new ZipInputStream(new ByteArrayInputStream(bytes))) {
            for (ZipEntry part = parts.getNextEntry(); part != null; part = parts.getNextEntry()) {
                boolean isXml =
                        part.getName().endsWith(".xml") || part.getName().endsWith(".rels");
                for (int read = parts.read(piece); read >= 0; read = parts.read(piece)) {
                    budget.go();
                    all += read;
                    xml += isXml ? read : 0;
                    if (all > MAX_UNPACKED_BYTES || xml > MAX_XML_BYTES) {
                        throw new IngestException(
                                "document_too_large",
                                "expected a file that unpacks to at most " + MAX_UNPACKED_BYTES + " bytes, "
                                        + MAX_XML_BYTES + " of them XML, found more");
                    }
                }
            }
        }
    }

    private static String mainType(OPCPackage opened) {
        return opened.getPartsByRelationshipType(PackageRelationshipTypes.CORE_DOCUMENT).stream()
                .map(part -> part.getContentType())
                .findFirst()
                .orElse("");
    }

    private static IngestException unsupported() {
        return new IngestException(
                "unsupported_format", "expected a .docx, .xlsx or .pptx, found another package of files");
    }

    private ParsedDocument text(XWPFDocument document) throws IngestException {
        String[] headings = new String[MAX_LEVEL];
        Arrays.fill(headings, "");
        for (IBodyElement element : document.getBodyElements()) {
            if (element instanceof XWPFParagraph paragraph) {
                String text = paragraph.getText().strip();
                int level = level(document, paragraph);
                if (level > 0 && !text.isEmpty()) {
                    headings[level - 1] = budget.take(text);
                    for (int below = level; below < MAX_LEVEL; below++) {
                        headings[below] = "";
                    }
                    begin(given(headings));
                } else if (!text.isEmpty()) {
                    blocks.add(new Section.Block.Paragraph(budget.take(text)));
                }
            } else if (element instanceof XWPFTable table) {
                List<List<String>> rows = new ArrayList<>();
                for (XWPFTableRow row : table.getRows()) {
                    List<String> cells = new ArrayList<>();
                    for (var cell : row.getTableCells()) {
                        cells.add(budget.take(cell.getText().strip()));
                    }
                    rows.add(cells);
                }
                add(rows);
            }
        }
        return done(document);
    }

    private static int level(XWPFDocument document, XWPFParagraph paragraph) {
        String id = paragraph.getStyleID();
        if (id == null) {
            return 0;
        }
        var style = document.getStyles() == null ? null : document.getStyles().getStyle(id);
        String name = style == null || style.getName() == null ? id : style.getName();
        Matcher heading = HEADING.matcher(name);
        if (!heading.matches()) {
            return 0;
        }
        return heading.group(1) == null ? 1 : Integer.parseInt(heading.group(1));
    }

    private ParsedDocument sheets(XSSFWorkbook workbook) throws IngestException {
        DataFormatter formatter = new DataFormatter();
        // what was worked out when it was saved; nothing is worked out here
        formatter.setUseCachedValuesForFormulaCells(true);
        for (Sheet sheet : workbook) {
            begin(List.of(budget.take(sheet.getSheetName())));
            List<List<String>> rows = new ArrayList<>();
            for (Row row : sheet) {
                List<String> cells = new ArrayList<>();
                for (Cell cell : row) {
                    cells.add(budget.take(formatter.formatCellValue(cell).strip()));
                }
                if (cells.stream().anyMatch(cell -> !cell.isEmpty())) {
                    rows.add(cells);
                }
            }
            add(rows);
        }
        return done(workbook);
    }

    private ParsedDocument slides(XMLSlideShow show) throws IngestException {
        for (XSLFSlide slide : show.getSlides()) {
            String title = slide.getTitle();
            begin(List.of(budget.take("Slide " + slide.getSlideNumber()
                    + (title == null || title.isBlank() ? "" : ": " + title.strip()))));
            for (XSLFShape shape : slide.getShapes()) {
                if (shape instanceof XSLFTextShape text && !text.getText().isBlank()) {
                    blocks.add(new Section.Block.Paragraph(
                            budget.take(text.getText().strip())));
                } else if (shape instanceof XSLFTable table) {
                    List<List<String>> rows = new ArrayList<>();
                    for (var row : table.getRows()) {
                        List<String> cells = new ArrayList<>();
                        for (var cell : row.getCells()) {
                            cells.add(budget.take(cell.getText().strip()));
                        }
                        rows.add(cells);
                    }
                    add(rows);
                }
            }
        }
        return done(show);
    }

    private void add(List<List<String>> rows) {
        if (!rows.isEmpty()) {
            blocks.add(
                    rows.size() == 1
                            ? new Section.Block.Table(List.of(), rows)
                            : new Section.Block.Table(rows.getFirst(), rows.subList(1, rows.size())));
        }
    }

    private void begin(List<String> next) {
        end();
        path = next;
    }

    private void end() {
        if (!blocks.isEmpty()) {
            sections.add(new Section(path, blocks));
            blocks.clear();
        }
    }

    private ParsedDocument done(POIXMLDocument document) {
        end();
        @Nullable String title = document.getProperties().getCoreProperties().getTitle();
        return new ParsedDocument(title == null || title.isBlank() ? null : title.strip(), sections);
    }

    private static List<String> given(String[] headings) {
        return Stream.of(headings).filter(heading -> !heading.isEmpty()).toList();
    }
}
